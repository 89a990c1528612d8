package statedir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Record is the state of a gate that must survive a restart.
type Record struct {
	// Protocol is the name and version of the protocol that saved the record. Memo is its own state; only that protocol
	// can read it.
	Protocol        string `json:"protocol"`
	ProtocolVersion uint8  `json:"protocol_version"`
	// Seq is the highest fencing number that was saved.
	Seq wire.Seq `json:"seq"`
	// HasRun is true if the operation has run; otherwise LastRun, Boot and SinceBoot have no meaning.
	HasRun bool `json:"-"`
	// LastRun is when the protected operation last started, by the wall clock.
	LastRun time.Time `json:"last_run,omitzero"`
	// Boot identifies the host's boot in which the record was saved, and SinceBoot is the time from that boot to the
	// start of the operation; negative if it started before the boot. If Boot is empty, both are unknown. Synced is
	// true if the kernel considered the wall clock synchronised.
	Boot      string        `json:"boot,omitempty"`
	SinceBoot time.Duration `json:"since_boot_ns,omitempty"`
	Synced    bool          `json:"synced,omitempty"`
	Memo      policy.Memo   `json:"memo,omitzero"`
	// Cut is true if a stop of the agent has cut the last run short. Within that boot of the host the run counts as not
	// having happened: then Before is in force.
	Cut    bool   `json:"cut,omitempty"`
	Before Before `json:"before,omitzero"`
	// LastSuccess is when the operation last succeeded, by the wall clock; zero if it never did.
	LastSuccess time.Time `json:"last_success,omitzero"`
	// Directive is the newest known directive to the gate, Here the pause of this host alone.
	Directive Directive `json:"order,omitzero"`
	Here      Directive `json:"here,omitzero"`
	// Kept is a grant that outlives its host: of this member, or one that it supports.
	Kept Kept `json:"kept,omitzero"`
	// Claim is the interval that a member has claimed for its run: this one, or one that it supports.
	Claim Claim `json:"claim,omitzero"`
}

// Before is what a record contained before the last run.
type Before struct {
	LastRun   time.Time     `json:"last_run,omitzero"`
	SinceBoot time.Duration `json:"since_boot_ns,omitempty"`
	Memo      policy.Memo   `json:"memo,omitzero"`
}

// Directive is a directive with its giver and reason, for people.
type Directive struct {
	wire.Directive
	Who    string `json:"who,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// recordVersion must be raised when an older agent would misread a record.
const recordVersion = 2

type document struct {
	Version int    `json:"version"`
	Gate    string `json:"gate"`
	Record
	// LastToken is present only in records of oldVersion.
	LastToken *oldToken `json:"last_token,omitempty"`
}

// Load reads the record of a gate; it returns false if there is none. The error names the remedy.
func (d *Dir) Load(gate string) (Record, bool, error) {
	path := d.recordPath(gate)
	text, found, err := d.load(path, "the state of gate "+gate)
	if err != nil || !found {
		return Record{}, false, err
	}
	r, err := decode(gate, text)
	if err != nil {
		return Record{}, false,
			fmt.Errorf("the state file %s is damaged (%w): delete it; note that the hook may then run earlier than "+
				"min_interval after its last run", path, err)
	}
	return r, true, nil
}

// Save makes the record durable before it returns. If it fails, the previous record is kept.
func (d *Dir) Save(gate string, r Record) error {
	return d.save(d.recordPath(gate), "the state of gate "+gate+", the previous one is kept", documentOf(gate, r))
}

// Reset forgets the fencing number of a gate and what its protocol remembers. It keeps when the operation last ran, so
// that it does not run again within min_interval. It returns the former record, and false if there is none. A damaged
// record is an error.
func (d *Dir) Reset(gate string) (before Record, found bool, err error) {
	before, found, err = d.Load(gate)
	if err != nil || !found {
		return before, found, err
	}
	after := before
	after.Seq, after.Memo, after.Before.Memo, after.Kept = 0, policy.Memo{}, policy.Memo{}, Kept{}
	after.Claim = Claim{}
	return before, true, d.Save(gate, after)
}

func documentOf(gate string, r Record) document {
	if !r.HasRun {
		r.LastRun, r.Boot, r.SinceBoot, r.Synced = time.Time{}, "", 0, false
	}
	r.LastRun, r.LastSuccess, r.Before.LastRun = r.LastRun.UTC(), r.LastSuccess.UTC(), r.Before.LastRun.UTC()
	return document{Version: recordVersion, Gate: gate, Record: r}
}

func decode(gate string, text []byte) (Record, error) {
	if len(text) == 0 {
		return Record{}, errors.New("it is empty")
	}
	var versioned struct{ Version int }
	if err := json.Unmarshal(text, &versioned); err != nil {
		return Record{}, err
	}
	if versioned.Version != oldVersion && versioned.Version != recordVersion {
		return Record{}, fmt.Errorf("it has version %d, this wanderd knows versions %d and %d", versioned.Version,
			oldVersion, recordVersion)
	}
	var doc document
	if err := strictly(text, &doc); err != nil {
		return Record{}, err
	}
	r := doc.Record
	r.HasRun = !r.LastRun.IsZero()
	switch {
	case doc.Gate != gate:
		return Record{}, fmt.Errorf("it belongs to gate %q", doc.Gate)
	case r.Seq > wire.MaxSeq:
		return Record{}, fmt.Errorf("seq %d is above %d", uint64(r.Seq), uint64(wire.MaxSeq))
	case doc.Version == oldVersion && (r.Protocol != "" || r.Memo != (policy.Memo{}) || r.Directive != (Directive{}) ||
		r.Here != (Directive{}) || r.Kept != (Kept{}) || r.Claim != (Claim{})),
		doc.Version == recordVersion && doc.LastToken != nil:
		return Record{}, errors.New("it has keys of another version")
	case doc.Version == oldVersion:
		err := doc.LastToken.into(&r)
		return r, err
	}
	for _, o := range []wire.Directive{r.Directive.Directive, r.Here.Directive} {
		if _, ok := wire.ParseDirective(o.Append(nil)); !ok {
			return Record{}, errors.New("it has an invalid directive")
		}
	}
	return r, errors.Join(r.Kept.check(), r.Claim.check())
}

// strictly parses a document and refuses unknown keys.
func strictly(text []byte, doc any) error {
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	return strict.Decode(doc)
}

func (d *Dir) recordPath(gate string) string { return d.pathOf("gate", gate, ".json") }

// HistoryPath returns the path of a gate's history.
func (d *Dir) HistoryPath(gate string) string { return d.pathOf("history", gate, ".jsonl") }

// pathOf returns the path of a file of a gate. The path is unique, also on file systems that ignore case: it has the
// gate's name if that is safe as a file name, and otherwise its identity on the wire.
func (d *Dir) pathOf(what, gate, suffix string) string {
	name := "." + wire.GateIDOf(gate).String()
	if strings.Trim(gate, "abcdefghijklmnopqrstuvwxyz0123456789-_") == "" && gate != "" && len(gate) <= 64 {
		name = "-" + gate
	}
	return filepath.Join(d.path, what+name+suffix)
}

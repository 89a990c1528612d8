package statedir

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// Record is the state of a gate that must survive a restart.
type Record struct {
	// HasRun is set if the operation has run; otherwise LastRun, Boot, SinceBoot, LastToken and Slot have no meaning.
	HasRun bool
	// LastRun is when the protected operation last started, by the wall clock.
	LastRun time.Time
	// Boot identifies the host's boot in which the record was saved, and SinceBoot is the time from that boot to the start of the
	// operation; negative if it started before the boot. If Boot is empty, both are unknown. Synced says that the kernel held the
	// wall clock for synchronised.
	Boot      string
	SinceBoot time.Duration
	Synced    bool
	// LastToken is the token under which it ran.
	LastToken wire.TokenID
	// Slot is the slot of that token.
	Slot uint8
	// Seq is the highest fencing number that was saved.
	Seq wire.Seq
	// LastSuccess is when the operation last succeeded, by the wall clock; zero if it never did.
	LastSuccess time.Time
}

// DamagedError is returned for the record of a gate that cannot be parsed. An agent may continue without it, but its hook may then
// run again within min_interval.
type DamagedError struct {
	// Path is the file, Err its defect.
	Path string
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the state file %s is damaged (%v): delete it; note that the hook may then run earlier than "+
		"min_interval after its last run", e.Path, e.Err)
}

// Unwrap returns the file's defect.
func (e *DamagedError) Unwrap() error { return e.Err }

// recordVersion must be raised when an older agent would misread a record.
const recordVersion = 1

// maxRecord bounds a record, in bytes.
const maxRecord = 64 << 10

// document is a record on disk.
type document struct {
	Version     int          `json:"version"`
	Gate        string       `json:"gate"`
	Seq         wire.Seq     `json:"seq"`
	LastRun     time.Time    `json:"last_run,omitzero"`
	Boot        string       `json:"boot,omitempty"`
	SinceBoot   int64        `json:"since_boot_ns,omitempty"`
	Synced      bool         `json:"synced,omitempty"`
	LastToken   *tokenOnDisk `json:"last_token,omitempty"`
	LastSuccess time.Time    `json:"last_success,omitzero"`
}

type tokenOnDisk struct {
	Birth     int64  `json:"birth"`
	Generator string `json:"generator"`
	Random    uint64 `json:"random"`
	Slot      uint8  `json:"slot,omitempty"`
}

// Load reads the record of a gate; it returns false if there is none. The error is a *DamagedError if the record cannot be parsed.
func (d *Dir) Load(gate string) (Record, bool, error) {
	path := filepath.Join(d.path, recordName(gate))
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Record{}, false, nil
	}
	if err != nil {
		return Record{}, false, d.explain("cannot read the state of gate "+gate, err)
	}
	defer func() { _ = f.Close() }()
	text, err := io.ReadAll(io.LimitReader(f, maxRecord))
	if err != nil {
		return Record{}, false, d.explain("cannot read the state of gate "+gate, err)
	}
	r, err := decode(gate, text)
	if err != nil {
		return Record{}, false, &DamagedError{Path: path, Err: err}
	}
	return r, true, nil
}

// Save makes the record durable before it returns. If it fails, the previous record is kept.
func (d *Dir) Save(gate string, r Record) error {
	text, err := encode(gate, r)
	if err != nil {
		return fmt.Errorf("cannot save the state of gate %s: %w", gate, err)
	}
	path := filepath.Join(d.path, recordName(gate))
	if err := d.replace(path, text); err != nil {
		return d.explain("cannot save the state of gate "+gate+", the previous one is kept", err)
	}
	return nil
}

// replace replaces the content of a file atomically: after a crash the file has either the old or the new content.
func (d *Dir) replace(path string, content []byte) error {
	tmp := path + tmpSuffix
	if err := writeSynced(tmp, os.O_TRUNC, content); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		_ = os.Remove(tmp)
		return err
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.self.Sync()
}

func encode(gate string, r Record) ([]byte, error) {
	doc := document{Version: recordVersion, Gate: gate, Seq: r.Seq}
	if !r.LastSuccess.IsZero() {
		doc.LastSuccess = r.LastSuccess.UTC()
	}
	if r.HasRun {
		doc.LastRun = r.LastRun.UTC()
		doc.Boot, doc.SinceBoot, doc.Synced = r.Boot, int64(r.SinceBoot), r.Synced
		doc.LastToken = &tokenOnDisk{
			Birth: r.LastToken.Birth, Generator: r.LastToken.Generator.String(), Random: r.LastToken.Random,
			Slot: r.Slot,
		}
	}
	text, err := json.Marshal(doc)
	return append(text, '\n'), err
}

func decode(gate string, text []byte) (Record, error) {
	if len(text) == 0 {
		return Record{}, errors.New("it is empty")
	}
	var versioned struct{ Version int }
	if err := json.Unmarshal(text, &versioned); err != nil {
		return Record{}, err
	}
	if versioned.Version != recordVersion {
		return Record{}, fmt.Errorf("it has version %d, this wanderd knows version %d", versioned.Version, recordVersion)
	}
	var doc document
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&doc); err != nil {
		return Record{}, err
	}
	switch {
	case doc.Gate != gate:
		return Record{}, fmt.Errorf("it belongs to gate %q", doc.Gate)
	case doc.Seq > wire.MaxSeq:
		return Record{}, fmt.Errorf("seq %d is above %d", uint64(doc.Seq), uint64(wire.MaxSeq))
	case doc.LastRun.IsZero() != (doc.LastToken == nil):
		return Record{}, errors.New("it has only one of last_run and last_token")
	}
	r := Record{Seq: doc.Seq, LastSuccess: doc.LastSuccess}
	if doc.LastToken == nil {
		return r, nil
	}
	generator, err := wire.ParseMemberID(doc.LastToken.Generator)
	if err != nil {
		return Record{}, err
	}
	if doc.LastToken.Slot >= wire.MaxSlots {
		return Record{}, fmt.Errorf("slot %d is too high: a gate has at most %d slots", doc.LastToken.Slot, wire.MaxSlots)
	}
	r.Boot, r.SinceBoot, r.Synced = doc.Boot, time.Duration(doc.SinceBoot), doc.Synced
	r.HasRun, r.LastRun, r.Slot = true, doc.LastRun, doc.LastToken.Slot
	r.LastToken = wire.TokenID{Birth: doc.LastToken.Birth, Generator: generator, Random: doc.LastToken.Random}
	return r, nil
}

// recordName is a unique file name for the gate, also on file systems that ignore case: its name if that is safe as a file name,
// else its identity on the wire.
func recordName(gate string) string {
	harmless := strings.Trim(gate, "abcdefghijklmnopqrstuvwxyz0123456789-_") == "" && gate != "" && len(gate) <= 64
	if harmless {
		return "gate-" + gate + ".json"
	}
	return "gate." + wire.GateIDOf(gate).String() + ".json"
}

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

// Record is what an agent must not forget of a gate.
type Record struct {
	// HasRun says that LastRun and LastToken mean something.
	HasRun bool
	// LastRun is when the protected operation last started, by the wall clock.
	LastRun time.Time
	// Boot names the boot of the host in which it was saved, and SinceBoot is how long after its beginning the operation
	// started, if negative how long before; they mean nothing if Boot is empty. Synced says that the wall clock was known to be right.
	Boot      string
	SinceBoot time.Duration
	Synced    bool
	// LastToken is the token it ran under.
	LastToken wire.TokenID
	// Slot is which of the gate's tokens that is.
	Slot uint8
	// Seq is the highest fencing number that was saved.
	Seq wire.Seq
	// LastSuccess is when the operation last ended well, by the wall clock; zero if it never did.
	LastSuccess time.Time
}

// DamagedError says that the record of a gate cannot be understood. An agent may go on without it, at the price of what
// the record was for: its hook may run again within min_interval.
type DamagedError struct {
	// Path is the file, Err what is wrong with it.
	Path string
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the state file %s is damaged (%v): delete it, knowing that the hook may then run sooner than "+
		"min_interval after its last run", e.Path, e.Err)
}

// Unwrap returns what is wrong with the file.
func (e *DamagedError) Unwrap() error { return e.Err }

// recordVersion is raised when an older agent would misread a record.
const recordVersion = 1

// maxRecord is more than any record has, in bytes.
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

// Load reads the record of a gate; false if there is none. The error is a *DamagedError if there is one that cannot be
// understood.
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

// Save makes the record durable before it returns. If it fails, the previous record is still there.
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

// replace exchanges the content of a file so that, whenever the machine stops, either the old or the new one is there.
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
		return Record{}, errors.New("last_run and last_token do not go without each other")
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
		return Record{}, fmt.Errorf("slot %d is none: a gate has at most %d", doc.LastToken.Slot, wire.MaxSlots)
	}
	r.Boot, r.SinceBoot, r.Synced = doc.Boot, time.Duration(doc.SinceBoot), doc.Synced
	r.HasRun, r.LastRun, r.Slot = true, doc.LastRun, doc.LastToken.Slot
	r.LastToken = wire.TokenID{Birth: doc.LastToken.Birth, Generator: generator, Random: doc.LastToken.Random}
	return r, nil
}

// recordName is a file name that is the gate's alone, also where upper and lower case are the same: its own name if that
// is harmless, else its identity on the wire.
func recordName(gate string) string {
	harmless := strings.Trim(gate, "abcdefghijklmnopqrstuvwxyz0123456789-_") == "" && gate != "" && len(gate) <= 64
	if harmless {
		return "gate-" + gate + ".json"
	}
	return "gate." + wire.GateIDOf(gate).String() + ".json"
}

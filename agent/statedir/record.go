package statedir

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Record is the state of a gate that must survive a restart.
type Record struct {
	// HasRun is set if the operation has run; otherwise LastRun, Boot and SinceBoot have no meaning.
	HasRun bool
	// LastRun is when the protected operation last started, by the wall clock.
	LastRun time.Time
	// Boot identifies the host's boot in which the record was saved, and SinceBoot is the time from that boot to the start of the
	// operation; negative if it started before the boot. If Boot is empty, both are unknown. Synced says that the kernel held the
	// wall clock for synchronised.
	Boot      string
	SinceBoot time.Duration
	Synced    bool
	// Seq is the highest fencing number that was saved.
	Seq wire.Seq
	// LastSuccess is when the operation last succeeded, by the wall clock; zero if it never did.
	LastSuccess time.Time
	// Order is the newest order to the gate that is known, Here the pause of this host alone. Each has its giver and reason, for people.
	Order, Here           wire.Order
	OrderWho, OrderReason string
	HereWho, HereReason   string
	// Protocol is the name and version of the protocol that saved the record. Memo is its own state; only that protocol can read it.
	Protocol        string
	ProtocolVersion uint8
	Memo            policy.Memo
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
const recordVersion = 2

// maxRecord bounds a record, in bytes.
const maxRecord = 64 << 10

// document is a record on disk.
type document struct {
	Version         int       `json:"version"`
	Gate            string    `json:"gate"`
	Protocol        string    `json:"protocol"`
	ProtocolVersion uint8     `json:"protocol_version"`
	Seq             wire.Seq  `json:"seq"`
	LastRun         time.Time `json:"last_run,omitzero"`
	Boot            string    `json:"boot,omitempty"`
	SinceBoot       int64     `json:"since_boot_ns,omitempty"`
	Synced          bool      `json:"synced,omitempty"`
	Memo            string    `json:"memo,omitempty"`
	LastSuccess     time.Time `json:"last_success,omitzero"`
	Order           *orderDoc `json:"order,omitempty"`
	Here            *orderDoc `json:"here,omitempty"`
}

// orderDoc is an order on disk.
type orderDoc struct {
	Stamp  uint64 `json:"stamp"`
	By     string `json:"by"`
	Until  int64  `json:"until"`
	Who    string `json:"who,omitempty"`
	Reason string `json:"reason,omitempty"`
}

func orderOnDisk(o wire.Order, who, reason string) *orderDoc {
	if o == (wire.Order{}) {
		return nil
	}
	return &orderDoc{Stamp: o.Stamp, By: o.By.String(), Until: o.Until, Who: who, Reason: reason}
}

// order reads an order from disk; a zero one, if there is none.
func (d *orderDoc) order() (o wire.Order, who, reason string, err error) {
	if d == nil {
		return o, "", "", nil
	}
	by, err := wire.ParseMemberID(d.By)
	if err != nil {
		return o, "", "", err
	}
	o, ok := wire.ParseOrder(wire.Order{Stamp: d.Stamp, By: by, Until: d.Until}.Append(nil))
	if !ok {
		return o, "", "", errors.New("it has an order that cannot be")
	}
	return o, d.Who, d.Reason, nil
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

// Reset forgets the fencing number of a gate and what its protocol remembers. It keeps when the operation ran last, so that it does not run
// again within min_interval. It returns the record before; false if there is none. A damaged record is an error.
func (d *Dir) Reset(gate string) (before Record, found bool, err error) {
	before, found, err = d.Load(gate)
	if err != nil || !found {
		return before, found, err
	}
	after := before
	after.Seq, after.Memo = 0, policy.Memo{}
	return before, true, d.Save(gate, after)
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
	doc := document{Version: recordVersion, Gate: gate, Protocol: r.Protocol, ProtocolVersion: r.ProtocolVersion, Seq: r.Seq}
	doc.Order, doc.Here = orderOnDisk(r.Order, r.OrderWho, r.OrderReason), orderOnDisk(r.Here, r.HereWho, r.HereReason)
	if !r.LastSuccess.IsZero() {
		doc.LastSuccess = r.LastSuccess.UTC()
	}
	if r.HasRun {
		doc.LastRun = r.LastRun.UTC()
		doc.Boot, doc.SinceBoot, doc.Synced = r.Boot, int64(r.SinceBoot), r.Synced
	}
	if r.Memo != (policy.Memo{}) {
		doc.Memo = hex.EncodeToString(r.Memo[:])
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
	switch versioned.Version {
	case oldVersion:
		return decodeOld(gate, text)
	case recordVersion:
	default:
		return Record{}, fmt.Errorf("it has version %d, this wanderd knows versions %d and %d", versioned.Version, oldVersion, recordVersion)
	}
	var doc document
	if err := strictly(text, &doc); err != nil {
		return Record{}, err
	}
	if err := plausible(gate, doc.Gate, doc.Seq); err != nil {
		return Record{}, err
	}
	r := Record{Seq: doc.Seq, LastSuccess: doc.LastSuccess, Protocol: doc.Protocol, ProtocolVersion: doc.ProtocolVersion}
	if doc.Memo != "" {
		n, err := hex.Decode(r.Memo[:], []byte(doc.Memo[:min(len(doc.Memo), 2*len(r.Memo))]))
		if err != nil || n != len(r.Memo) || len(doc.Memo) != 2*n {
			return Record{}, fmt.Errorf("its memo is not %d bytes in hexadecimal digits", len(r.Memo))
		}
	}
	var err error
	if r.Order, r.OrderWho, r.OrderReason, err = doc.Order.order(); err != nil {
		return Record{}, err
	}
	if r.Here, r.HereWho, r.HereReason, err = doc.Here.order(); err != nil {
		return Record{}, err
	}
	if !doc.LastRun.IsZero() {
		r.HasRun, r.LastRun = true, doc.LastRun
		r.Boot, r.SinceBoot, r.Synced = doc.Boot, time.Duration(doc.SinceBoot), doc.Synced
	}
	return r, nil
}

// strictly parses a document and refuses unknown keys.
func strictly(text []byte, doc any) error {
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	return strict.Decode(doc)
}

// plausible refuses a document of another gate or with an impossible number.
func plausible(want, gate string, seq wire.Seq) error {
	switch {
	case gate != want:
		return fmt.Errorf("it belongs to gate %q", gate)
	case seq > wire.MaxSeq:
		return fmt.Errorf("seq %d is above %d", uint64(seq), uint64(wire.MaxSeq))
	}
	return nil
}

// recordName is a unique file name for the gate, also on file systems that ignore case: its name if that is safe as a file name,
// else its identity on the wire.
func recordName(gate string) string { return fileName("gate", gate) + ".json" }

// HistoryPath is the file of a gate's history.
func (d *Dir) HistoryPath(gate string) string {
	return filepath.Join(d.path, fileName("history", gate)+".jsonl")
}

// fileName begins the name of a file of a gate.
func fileName(of, gate string) string {
	harmless := strings.Trim(gate, "abcdefghijklmnopqrstuvwxyz0123456789-_") == "" && gate != "" && len(gate) <= 64
	if harmless {
		return of + "-" + gate
	}
	return of + "." + wire.GateIDOf(gate).String()
}

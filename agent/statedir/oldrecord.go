package statedir

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// oldVersion is the version of records that do not name their protocol: those of a soft gate.
const oldVersion = 1

// oldDocument is a record of oldVersion on disk.
type oldDocument struct {
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

// decodeOld reads a record of version 1. Its token becomes the soft gate's memo: see wander.Memo.
func decodeOld(gate string, text []byte) (Record, error) {
	var doc oldDocument
	if err := strictly(text, &doc); err != nil {
		return Record{}, err
	}
	if err := plausible(gate, doc.Gate, doc.Seq); err != nil {
		return Record{}, err
	}
	if doc.LastRun.IsZero() != (doc.LastToken == nil) {
		return Record{}, errors.New("it has only one of last_run and last_token")
	}
	r := Record{Seq: doc.Seq, LastSuccess: doc.LastSuccess, Protocol: "wander", ProtocolVersion: 1}
	t := doc.LastToken
	if t == nil {
		return r, nil
	}
	generator, err := wire.ParseMemberID(t.Generator)
	if err != nil {
		return Record{}, err
	}
	if t.Slot >= wire.MaxSlots {
		return Record{}, fmt.Errorf("slot %d is too high: a gate has at most %d slots", t.Slot, wire.MaxSlots)
	}
	r.Boot, r.SinceBoot, r.Synced = doc.Boot, time.Duration(doc.SinceBoot), doc.Synced
	r.HasRun, r.LastRun = true, doc.LastRun
	binary.BigEndian.PutUint64(r.Memo[:8], uint64(t.Birth))
	copy(r.Memo[8:24], generator[:])
	binary.BigEndian.PutUint64(r.Memo[24:32], t.Random)
	r.Memo[32] = t.Slot
	return r, nil
}

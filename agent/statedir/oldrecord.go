package statedir

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/wanderd/wanderd/wire"
)

// oldVersion is the version of records that do not name their protocol: those of a soft gate.
const oldVersion = 1

// oldToken is the token of the last run in a record of oldVersion.
type oldToken struct {
	Birth     int64         `json:"birth"`
	Generator wire.MemberID `json:"generator"`
	Random    uint64        `json:"random"`
	Slot      uint8         `json:"slot,omitempty"`
}

// into converts a record of version 1: its token becomes the soft gate's memo. See wander.Memo.
func (t *oldToken) into(r *Record) error {
	r.Protocol, r.ProtocolVersion = "wander", 1
	switch {
	case r.HasRun != (t != nil):
		return errors.New("it has only one of last_run and last_token")
	case t == nil:
		return nil
	case t.Slot >= wire.MaxSlots:
		return fmt.Errorf("slot %d is too high: a gate has at most %d slots", t.Slot, wire.MaxSlots)
	}
	binary.BigEndian.PutUint64(r.Memo[:8], uint64(t.Birth))
	copy(r.Memo[8:24], t.Generator[:])
	binary.BigEndian.PutUint64(r.Memo[24:32], t.Random)
	r.Memo[32] = t.Slot
	return nil
}

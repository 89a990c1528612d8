package statedir

import (
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Kept is a grant that outlives its host, in a record: see [policy.Kept].
type Kept struct {
	Holder    wire.MemberID `json:"holder"`
	Birth     int64         `json:"birth"`
	Generator wire.MemberID `json:"generator"`
	Random    uint64        `json:"random"`
	Slot      uint8         `json:"slot,omitempty"`
	Seq       wire.Seq      `json:"seq"`
	// Load is what the token of a soft gate carries, in hexadecimal digits; empty if it carries nothing.
	Load     string        `json:"load,omitempty"`
	For      time.Duration `json:"for_ns"`
	Demanded bool          `json:"demanded,omitempty"`
	// Boot identifies the boot of this host in which the grant was recorded; empty if that is unknown.
	Boot string `json:"boot,omitempty"`
	// Down is true if this host has gone down under the grant, as its service manager said: a container does not get
	// another boot.
	Down bool `json:"down,omitempty"`
	// Over is true if the operation has succeeded, and what is left is to look after the host.
	Over bool `json:"over,omitempty"`
	// Client holds the grant until it says that it needs it no longer; empty if a hook or a command had it. Asked is
	// the time since the boot at which it was granted; Steady is true once the client needs it no longer.
	Client string        `json:"client,omitempty"`
	Asked  time.Duration `json:"asked_ns,omitempty"`
	Steady bool          `json:"steady,omitempty"`
	// Beyond is the time since the boot up to which the grant is kept beyond the end of its operation, which has asked
	// for that; zero if it has not.
	Beyond time.Duration `json:"beyond_ns,omitempty"`
	Reason string        `json:"reason,omitempty"`
}

// MaxClient is the longest name of a client, in bytes.
const MaxClient = 256

// MaxReason is the longest reason why a grant is kept beyond the end of its operation, in bytes.
const MaxReason = 200

// KeptOf returns the record of a grant; it is zero if there is none.
func KeptOf(k *policy.Kept, boot string) Kept {
	if !k.Is() {
		return Kept{}
	}
	t, load := &k.Token, ""
	if k.Load != (wire.Load{}) {
		load = hex.EncodeToString(k.Load[:])
	}
	return Kept{
		Load:   load,
		Holder: k.Holder, Birth: t.ID.Birth, Generator: t.ID.Generator, Random: t.ID.Random, Slot: t.Slot, Seq: t.Seq,
		For: k.For, Demanded: k.Demanded, Boot: boot,
	}
}

// Grant returns the recorded grant.
func (k *Kept) Grant() policy.Kept {
	var load wire.Load
	if b, err := hex.DecodeString(k.Load); err == nil {
		copy(load[:], b)
	}
	return policy.Kept{
		Load:   load,
		Holder: k.Holder, For: k.For, Demanded: k.Demanded,
		Token: wire.Ref{
			ID:   wire.TokenID{Birth: k.Birth, Generator: k.Generator, Random: k.Random},
			Slot: k.Slot, Seq: k.Seq,
		},
	}
}

// mostKept is the longest time for which a grant is kept; longer ones are damage.
const mostKept = 7 * 24 * time.Hour

// check returns an error for values that no agent writes.
func (k *Kept) check() error {
	switch {
	case *k == Kept{}:
		return nil
	case k.Holder.IsZero() || k.Generator.IsZero() || k.Seq == 0:
		return errors.New("it keeps a grant without a holder or a number")
	case k.Seq > wire.MaxSeq || k.Slot >= wire.MaxSlots:
		return fmt.Errorf("it keeps a grant with number %d of slot %d", uint64(k.Seq), k.Slot)
	case len(k.Load) != 0 && len(k.Load) != hex.EncodedLen(wire.LoadSize) || !isHex(k.Load):
		return errors.New("it keeps a grant whose token carries no load")
	case k.For <= 0 || k.For > mostKept:
		return fmt.Errorf("it keeps a grant for %v", k.For)
	case k.Beyond < 0 || len(k.Reason) > MaxReason:
		return fmt.Errorf("it keeps a grant beyond its end until %v, for a reason of %d bytes", k.Beyond, len(k.Reason))
	case len(k.Client) > MaxClient || k.Asked < 0:
		return fmt.Errorf("it keeps a grant of %v for a client with a name of %d bytes", k.Asked, len(k.Client))
	}
	return nil
}

func isHex(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil
}

package wander_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// hearLie lets a member hear what is made of a message, if its shell would.
func (f *fleet) hearLie(sent *wire.Message) {
	if !wellFormed(sent) {
		f.t.Fatalf("a member sends a message that is not well-formed: %+v", sent)
	}
	forged, lies := f.lie(sent)
	if !lies || forged.Token.Slot >= wire.MaxSlots || forged.Token.Seq > wire.MaxSeq || forged.Token.ID.Birth < 0 ||
		forged.Token.ID.Birth > wire.MaxBirth || !wellFormed(&forged) {
		return
	}
	for i := range f.members {
		if id(i) == forged.To && f.members[i].m.Expects(&forged) {
			f.later(time.Millisecond, i, policy.Event{Kind: policy.Received, Msg: forged})
		}
	}
}

func wellFormed(m *wire.Message) bool {
	descriptor := wander.Descriptor()
	return descriptor.WellFormed(m)
}

// lieAs makes lies of a seed: one message in six, with one to three fields changed to extremes, in the name of another
// member.
func lieAs(dice *rand.Rand, f *fleet) func(*wire.Message) (wire.Message, bool) {
	extremes := func() uint64 {
		latest := uint64(wire.LatestSeq(noon + int64(f.now)))
		all := []uint64{
			0, 1, 2, 77, 255, 1<<16 - 1, 1<<32 - 1, 1 << 62, 1<<63 - 1, 1<<64 - 1, latest, latest + 1,
			uint64(noon), uint64(noon) + uint64(23*time.Hour),
		}
		return all[dice.IntN(len(all))]
	}
	kinds := wander.Descriptor().Kinds
	return func(sent *wire.Message) (wire.Message, bool) {
		m := *sent
		if dice.IntN(6) > 0 {
			return m, false
		}
		m.From = id(dice.IntN(len(f.members)))
		if m.From == m.To {
			return m, false
		}
		for range 1 + dice.IntN(3) {
			switch dice.IntN(8) {
			case 0:
				m.Token.Seq = wire.Seq(extremes())
			case 1:
				m.Token.ID.Birth = int64(extremes())
			case 2:
				m.Kind = kinds[dice.IntN(len(kinds))].Kind
			case 3:
				m.Exchange = wire.Exchange(extremes())
			case 4:
				m.Nonce = wire.Nonce(extremes())
			default:
				var whole [8]byte
				binary.BigEndian.PutUint64(whole[:], extremes())
				width := 1 << dice.IntN(4)
				copy(m.Load[dice.IntN(wire.LoadSize):], whole[8-width:])
			}
		}
		return m, true
	}
}

// The other members cannot keep a member with a valid key from lying. But no lie ends another member's process, or
// makes it send messages that others do not read; and when it stops lying, all run again.
func TestNoLieOfAMemberEndsAFleet(t *testing.T) {
	for seed := range uint64(12) {
		f := newFleet(t, 4, config())
		for i := range f.members {
			f.seesAll(0, i)
		}
		f.lie = lieAs(rand.New(rand.NewPCG(seed, 1)), f)
		f.advance(20 * time.Minute)
		f.lie = nil
		before := make([]int, len(f.members))
		for i, m := range f.members {
			before[i] = m.runs
		}
		f.advance(3 * time.Hour)
		for i, m := range f.members {
			if m.runs == before[i] {
				t.Errorf("seed %d: three hours after the last lie member %d has not run", seed, i)
			}
		}
	}
}

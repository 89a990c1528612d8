package measure

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

const good = 600 * time.Second

func (s *scenario) losses(when float64, held, single []time.Duration) {
	s.t.Helper()
	f := s.meter.Figures(at(when))
	l := &s.meter.custody.losses
	if !slices.Equal(l.held, held) || !slices.Equal(l.single, single) {
		s.t.Errorf("at %v: held again after %v and one for good after %v, want %v and %v", when, l.held, l.single, held,
			single)
	}
	if f.HeldAgain.Count != Number(len(held)) || f.OneForGood.Count != Number(len(single)) {
		s.t.Errorf("at %v: held again %+v, one for good %+v", when, f.HeldAgain, f.OneForGood)
	}
}

func TestEachLossCountsByItself(t *testing.T) {
	s := tell(t, Config{Members: 2, Quiet: quiet, Good: good})
	s.hands(0, 0, policy.CauseMade, 1)
	for _, when := range []float64{4000, 4500, 6000} {
		s.hands(when, 0, policy.CauseAsleep, 1)
		s.hands(when+1, 0, policy.CauseRevived, 1)
	}
	s.losses(6500, seconds64(1, 1, 1), seconds64(1, 1))
	s.losses(6601, seconds64(1, 1, 1), seconds64(1, 1, 1))
	s.recoveries(9000, seconds64(2001), seconds64(1, 1, 1))
}

func TestOneIsForGoodIfItStaysForMinInterval(t *testing.T) {
	s := tell(t, Config{Members: 3, Quiet: quiet, Good: good})
	s.hands(0, 0, policy.CauseMade, 1)
	s.hands(4000, 0, policy.CauseAsleep, 1)
	s.hands(4010, 1, policy.CauseMade, 2)
	s.hands(4020, 2, policy.CauseMade, 3)
	s.losses(9000, seconds64(10), nil)
	s.hands(9000, 2, policy.CauseRemoved, 3)
	s.losses(9599, seconds64(10), nil)
	s.losses(9600, seconds64(10), seconds64(5000))
}

// Where several tokens remove each other until none is left, the fleet is still recovering from the loss before.
func TestATokenThatIsRemovedIsNoOtherLoss(t *testing.T) {
	s := tell(t, Config{Members: 3, Quiet: quiet, Good: good})
	s.hands(0, 0, policy.CauseMade, 1)
	s.hands(4000, 0, policy.CauseAsleep, 1)
	s.hands(4010, 1, policy.CauseMade, 2)
	s.hands(4020, 1, policy.CauseRemoved, 2)
	s.hands(4050, 2, policy.CauseMade, 3)
	s.losses(9000, seconds64(10, 30), seconds64(50))
}

// The sender of a lost Commit revives the token before the receiver has noticed: no member held it meanwhile.
func TestATokenThatIsRevivedWhileItIsUnderWayWasLost(t *testing.T) {
	s := tell(t, Config{Members: 2, Quiet: quiet, Good: good})
	s.hands(0, 0, policy.CauseMade, 1)
	s.pass(4000, 0, 1, 1)
	s.step(4003, 0, policy.Event{Kind: policy.Woke}, changing(policy.CauseRevived, member(1), token(1)))
	s.losses(9000, seconds64(3), seconds64(3))
}

func TestTheLossesOfOneSlotAreNoneOfAnother(t *testing.T) {
	s := tell(t, Config{Members: 3, Slots: 2, Quiet: quiet, Good: good})
	of := func(slot uint8, id uint64) wire.Ref {
		t := token(id)
		t.Slot = slot
		return t
	}
	hands := func(when float64, member int, cause policy.Cause, t wire.Ref) {
		s.step(when, member, policy.Event{Kind: policy.Woke}, changing(cause, wire.MemberID{}, t))
	}
	hands(0, 0, policy.CauseMade, of(0, 1))
	hands(10, 1, policy.CauseMade, of(1, 2))
	s.crash(4000, 1)
	s.crash(4100, 0)
	hands(4150, 2, policy.CauseMade, of(0, 3))
	hands(4500, 2, policy.CauseMade, of(1, 4))
	s.losses(9000, seconds64(50, 500), seconds64(50, 500))
}

package measure

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

const quiet = 1800 * time.Second

func seconds64(of ...float64) []time.Duration {
	var d []time.Duration
	for _, s := range of {
		d = append(d, time.Duration(s*float64(time.Second)))
	}
	return d
}

func (s *scenario) recoveries(when float64, stabilised, tokenless []time.Duration) {
	s.t.Helper()
	if got := s.meter.Recoveries(at(when)); !slices.Equal(got, stabilised) {
		s.t.Errorf("at %v the recoveries are %v, want %v", when, got, stabilised)
	}
	f := s.meter.Figures(at(when))
	if f.Recovery.Count != Number(len(stabilised)) || f.Tokenless.Count != Number(len(tokenless)) {
		s.t.Errorf("at %v: %v recoveries, %v times without a token; want %v, %v",
			when, f.Recovery.Count, f.Tokenless.Count, stabilised, tokenless)
	}
	if got := s.meter.recovery.tokenless; !slices.Equal(got, tokenless) {
		s.t.Errorf("at %v the times without a token are %v, want %v", when, got, tokenless)
	}
}

func TestTheTimeBeforeTheFirstTokenIsNoRecovery(t *testing.T) {
	s := tell(t, Config{Members: 1, Quiet: quiet})
	s.hands(50, 0, policy.CauseMade, 1)
	s.recoveries(10_000, nil, nil)
}

// "From the loss until the moment from which exactly one token exists for at least Δmax."
func TestARecoveryEndsWhereTheLastingTokenBegins(t *testing.T) {
	s := tell(t, Config{Members: 3, Quiet: quiet})
	s.hands(0, 0, policy.CauseMade, 1)
	s.crash(5000, 0)
	s.hands(7000, 1, policy.CauseMade, 2)
	s.recoveries(8799, nil, seconds64(2000))
	s.recoveries(8800, seconds64(2000), seconds64(2000))
	if f := s.meter.Figures(at(9000)); f.Recovery.P50 != 2000 || f.Recovery.P90 != 2000 || f.Recovery.Max != 2000 {
		t.Errorf("recovery %+v", f.Recovery)
	}
}

func TestEventsBeforeTheFleetIsStableAreOneRecovery(t *testing.T) {
	s := tell(t, Config{Members: 4, Quiet: quiet})
	s.hands(0, 0, policy.CauseMade, 1)
	s.hands(4000, 0, policy.CauseAsleep, 1)
	s.hands(6000, 1, policy.CauseMade, 2)
	s.hands(6100, 2, policy.CauseMade, 3)
	// One token is left, but not for long: the next one dies under the rule of removal, like dominoes.
	s.hands(6200, 1, policy.CauseRemoved, 2)
	s.hands(7999, 2, policy.CauseRemoved, 3)
	s.hands(8500, 3, policy.CauseMade, 4)
	s.hands(8600, 1, policy.CauseMade, 5)
	s.hands(8700, 1, policy.CauseRemoved, 5)
	s.recoveries(10_499, nil, seconds64(2000, 501))
	s.hands(20_000, 3, policy.CauseAsleep, 4)
	s.recoveries(20_000, seconds64(4700), seconds64(2000, 501))
}

func TestTwoTokensAreNotStable(t *testing.T) {
	s := tell(t, Config{Members: 2, Quiet: quiet})
	s.hands(0, 0, policy.CauseMade, 1)
	if s.meter.Stable(at(1799)) || !s.meter.Stable(at(1800)) {
		t.Error("one token is stable after Δmax, and not before")
	}
	s.hands(2000, 1, policy.CauseMade, 2)
	if s.meter.Stable(at(9000)) {
		t.Error("two tokens are taken for stable")
	}
}

func TestOfARecoveryThatIsNotOverNothingIsKnown(t *testing.T) {
	s := tell(t, Config{Members: 1, Quiet: quiet})
	s.hands(0, 0, policy.CauseMade, 1)
	s.hands(4000, 0, policy.CauseAsleep, 1)
	s.recoveries(100_000, nil, nil)
	f := s.meter.Figures(at(100_000))
	for _, n := range []Number{f.Recovery.P50, f.Recovery.P90, f.Recovery.Max, f.Tokenless.P50} {
		if !math.IsNaN(float64(n)) {
			t.Errorf("recovery %+v, tokenless %+v", f.Recovery, f.Tokenless)
		}
	}
}

// The receiver learns that no Commit comes a timeout after the sender has given the token up. No member has had it
// since.
func TestALostCommitCountsFromWhenTheTokenWasGivenUp(t *testing.T) {
	s := tell(t, Config{Members: 2, Quiet: quiet})
	s.hands(0, 0, policy.CauseMade, 1)
	s.pass(4000, 0, 1, 1)
	s.waitsNoLonger(4001, 1)
	s.hands(4003, 1, policy.CauseMade, 2)
	s.recoveries(8000, seconds64(3), seconds64(3))
}

// With several slots each slot must have its token: two tokens of one slot do not make up for one that another slot
// lacks.
func TestAFleetIsWithoutATokenWhereOneSlotIs(t *testing.T) {
	s := tell(t, Config{Members: 3, Slots: 2, Quiet: quiet})
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
	hands(4100, 2, policy.CauseMade, of(0, 3))
	hands(4500, 0, policy.CauseMade, of(1, 4))
	hands(4600, 2, policy.CauseRemoved, of(0, 3))
	s.recoveries(8000, seconds64(600), seconds64(500))
}

// If as many operations run as there are slots, there is no overlap.
func TestAnOverlapIsMoreThanThereAreSlots(t *testing.T) {
	s := tell(t, Config{Members: 3, Slots: 2, Quiet: quiet})
	for i := range 3 {
		s.start(float64(10*i), i)
	}
	s.finish(25, 0)
	f := s.meter.Figures(at(50))
	if f.Overlap != 0.1 || f.Utilisation != 1 {
		t.Errorf("busy %v and overlap %v of the time, want 1 and 0.1", f.Utilisation, f.Overlap)
	}
}

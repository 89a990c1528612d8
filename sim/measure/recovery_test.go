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

func (s *story) recoveries(when float64, stabilised, tokenless []time.Duration) {
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
	s.note(50, 0, policy.NoteMinted, 1)
	s.recoveries(10_000, nil, nil)
}

// "From the loss until the moment from which exactly one token exists for at least Δmax."
func TestARecoveryEndsWhereTheLastingTokenBegins(t *testing.T) {
	s := tell(t, Config{Members: 3, Quiet: quiet})
	s.note(0, 0, policy.NoteMinted, 1)
	s.crash(5000, 0)
	s.note(7000, 1, policy.NoteRegenerated, 2)
	s.recoveries(8799, nil, seconds64(2000))
	s.recoveries(8800, seconds64(2000), seconds64(2000))
	if f := s.meter.Figures(at(9000)); f.Recovery.P50 != 2000 || f.Recovery.P90 != 2000 || f.Recovery.Max != 2000 {
		t.Errorf("recovery %+v", f.Recovery)
	}
}

func TestWhatHappensBeforeTheFleetIsStableIsPartOfTheSameRecovery(t *testing.T) {
	s := tell(t, Config{Members: 4, Quiet: quiet})
	s.note(0, 0, policy.NoteMinted, 1)
	s.note(4000, 0, policy.NoteGaveUp, 1)
	s.note(6000, 1, policy.NoteRegenerated, 2)
	s.note(6100, 2, policy.NoteRegenerated, 3)
	// One is left, but not for long: the next dies under the rule of removal, as dominoes do.
	s.note(6200, 1, policy.NoteRemoved, 2)
	s.note(7999, 2, policy.NoteRemoved, 3)
	s.note(8500, 3, policy.NoteRegenerated, 4)
	s.note(8600, 1, policy.NoteRegenerated, 5)
	s.note(8700, 1, policy.NoteRemoved, 5)
	s.recoveries(10_499, nil, seconds64(2000, 501))
	s.note(20_000, 3, policy.NoteGaveUp, 4)
	s.recoveries(20_000, seconds64(4700), seconds64(2000, 501))
}

func TestTwoTokensAreNotStable(t *testing.T) {
	s := tell(t, Config{Members: 2, Quiet: quiet})
	s.note(0, 0, policy.NoteMinted, 1)
	if s.meter.Stable(at(1799)) || !s.meter.Stable(at(1800)) {
		t.Error("one token is stable after Δmax, and not before")
	}
	s.note(2000, 1, policy.NoteRegenerated, 2)
	if s.meter.Stable(at(9000)) {
		t.Error("two tokens are taken for stable")
	}
}

func TestOfARecoveryThatIsNotOverNothingIsKnown(t *testing.T) {
	s := tell(t, Config{Members: 1, Quiet: quiet})
	s.note(0, 0, policy.NoteMinted, 1)
	s.note(4000, 0, policy.NoteGaveUp, 1)
	s.recoveries(100_000, nil, nil)
	f := s.meter.Figures(at(100_000))
	for _, n := range []Number{f.Recovery.P50, f.Recovery.P90, f.Recovery.Max, f.Tokenless.P50} {
		if !math.IsNaN(float64(n)) {
			t.Errorf("recovery %+v, tokenless %+v", f.Recovery, f.Tokenless)
		}
	}
}

// The receiver learns that no Commit comes a timeout after the sender has given the token up, and nobody has had it since.
func TestALostCommitCountsFromWhenTheTokenWasGivenUp(t *testing.T) {
	s := tell(t, Config{Members: 2, Quiet: quiet})
	s.note(0, 0, policy.NoteMinted, 1)
	s.pass(4000, 0, 1, 1)
	s.step(4001, 1, policy.Event{Kind: policy.Woke}, telling(policy.NoteNoCommit, member(0), token(1)))
	s.note(4003, 1, policy.NoteRegenerated, 2)
	s.recoveries(8000, seconds64(3), seconds64(3))
}

// With several slots each must have its token: two of one do not make up for one that another lacks.
func TestAFleetIsWithoutATokenWhereOneSlotIs(t *testing.T) {
	s := tell(t, Config{Members: 3, Slots: 2, Quiet: quiet})
	of := func(slot uint8, id uint64) wire.Token {
		t := token(id)
		t.Slot = slot
		return t
	}
	note := func(when float64, member int, n policy.Note, t wire.Token) {
		s.step(when, member, policy.Event{Kind: policy.Woke}, telling(n, wire.MemberID{}, t))
	}
	note(0, 0, policy.NoteMinted, of(0, 1))
	note(10, 1, policy.NoteMinted, of(1, 2))
	s.crash(4000, 1)
	note(4100, 2, policy.NoteRegenerated, of(0, 3))
	note(4500, 0, policy.NoteRegenerated, of(1, 4))
	note(4600, 2, policy.NoteRemoved, of(0, 3))
	s.recoveries(8000, seconds64(600), seconds64(500))
}

// As many operations as there are slots are no overlap.
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

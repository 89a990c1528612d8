package measure

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
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

package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
)

// measuring starts a member of a fleet of five that is not told how long the operation takes.
func measuring(t *testing.T) *scenario {
	t.Helper()
	cfg := config()
	cfg.Op = 0
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	return s
}

// run lets a token with that estimate come, the operation take that long, and the token go; it returns that token.
func (s *scenario) run(estimate uint32, takes time.Duration) guardian.Token {
	s.t.Helper()
	token := born(1, 10)
	wander.SetOp(&token.Load, estimate)
	s.arrive(token, 1)
	s.wantState("running")
	s.advance(takes)
	s.finish()
	gone, _ := s.ack()
	s.advance(minInterval)
	return gone
}

func (s *scenario) wantOp(op time.Duration, source wander.OpSource, maxInterval time.Duration) {
	s.t.Helper()
	st := s.m.Detail(s.now.Time)
	if st.Op != op || st.OpSource != source || st.MaxInterval != maxInterval {
		s.t.Errorf("op is %v, %v, and max_interval %v; want %v, %v, %v", st.Op, st.OpSource, st.MaxInterval, op, source,
			maxInterval)
	}
}

func TestTheEstimateTravelsWithTheToken(t *testing.T) {
	s := measuring(t)
	s.wantOp(4*time.Second, wander.OpAssumed, maxInterval)
	if gone := s.run(0, 200*time.Second); wander.OpOf(&gone.Load) != 200_000 {
		t.Errorf("the first to measure passes on %d ms", wander.OpOf(&gone.Load))
	}
	s.wantOp(200*time.Second, wander.OpMeasured, 3*5*200*time.Second)
	if gone := s.run(100_000, 180*time.Second); wander.OpOf(&gone.Load) != 110_000 {
		t.Errorf("an eighth of 80 s more is %d ms", wander.OpOf(&gone.Load))
	}
	s.wantOp(110*time.Second, wander.OpMeasured, max(3*5*110*time.Second, maxInterval))
}

// A hook that slows down makes max_interval longer before its members lose patience.
func TestRegenerateAfterFollowsAnOperationThatTakesLonger(t *testing.T) {
	s := measuring(t)
	s.run(0, 4*time.Second)
	s.wantRegenerateAfter(maxInterval)
	s.run(200_000, 200*time.Second)
	s.wantRegenerateAfter(3 * 5 * 200 * time.Second)
}

// An operation that becomes fast lets regenerate-after fall with max_interval, and not by a twentieth for each token.
func TestRegenerateAfterFollowsAnOperationThatTakesLessTime(t *testing.T) {
	s := measuring(t)
	s.run(0, 200*time.Second)
	s.wantRegenerateAfter(3 * 5 * 200 * time.Second)
	s.run(200_000, 40*time.Second)
	s.wantOp(180*time.Second, wander.OpMeasured, 3*5*180*time.Second)
	s.wantRegenerateAfter(3 * 5 * 180 * time.Second)
}

// A run that hangs for ten minutes, or for a day, moves an estimate of four seconds by half a second.
func TestOneRunDoesNotCarryTheEstimate(t *testing.T) {
	for _, hangs := range []time.Duration{8 * time.Second, 10 * time.Minute, 24 * time.Hour, 100 * 24 * time.Hour} {
		s := measuring(t)
		s.run(4000, hangs)
		s.wantOp(4500*time.Millisecond, wander.OpMeasured, maxInterval)
	}
}

// The estimate follows what all runs have in common, even from a first run that failed at once.
func TestTheEstimateFollowsWhatAllRunsTake(t *testing.T) {
	for _, tc := range []struct {
		from uint32
		to   time.Duration
		runs int
	}{
		{4000, 40 * time.Second, 40}, {40_000, 4 * time.Second, 40}, {1, 10 * time.Minute, 160},
	} {
		s := measuring(t)
		estimate := tc.from
		for range tc.runs {
			gone := s.run(estimate, tc.to)
			estimate = wander.OpOf(&gone.Load)
		}
		if got := time.Duration(estimate) * time.Millisecond; got < tc.to*9/10 || got > tc.to*11/10 {
			t.Errorf("after %d runs of %v the estimate of %d ms is %v", tc.runs, tc.to, tc.from, got)
		}
	}
}

// Its duration is only the timeout that it was allowed, and a run that never started has no duration.
func TestARunEndedByItsTimeoutIsNotMeasured(t *testing.T) {
	s := measuring(t)
	token := born(1, 10)
	wander.SetOp(&token.Load, 60_000)
	s.arrive(token, 1)
	s.advance(time.Hour)
	s.step(policy.Event{Kind: policy.Finished, Void: true})
	if gone, _ := s.ack(); wander.OpOf(&gone.Load) != 60_000 {
		t.Errorf("it passes on %d ms", wander.OpOf(&gone.Load))
	}
}

func TestTheOperatorsOwnValuesWin(t *testing.T) {
	s := inFleet(t)
	s.run(200_000, 200*time.Second)
	s.wantOp(op, wander.OpConfigured, maxInterval)

	cfg := config()
	cfg.Op, cfg.MaxInterval = 0, time.Hour
	s = begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	s.run(1_000_000, 1000*time.Second)
	s.wantOp(1000*time.Second, wander.OpMeasured, time.Hour)
}

func TestARunThatWasStoppedIsNotMeasured(t *testing.T) {
	s := measuring(t)
	token := born(1, 10)
	wander.SetOp(&token.Load, 60_000)
	s.arrive(token, 1)
	s.leave()
	s.finish()
	if gone, _ := s.ack(); wander.OpOf(&gone.Load) != 60_000 {
		t.Errorf("it passes on %d ms", wander.OpOf(&gone.Load))
	}
}

// A run that loses its token and is stopped takes less time than the operation does; one during which the host slept
// takes more.
func TestARunThatWasDisturbedIsNotMeasured(t *testing.T) {
	for name, disturb := range map[string]func(s *scenario){
		"overtaken and stopped": func(s *scenario) { s.receive(word(guardian.KindHeartbeat, 1, born(1, 1<<40))) },
		"asleep":                func(s *scenario) { s.sleep(time.Hour) },
		"asleep and alone":      func(s *scenario) { s.view(3); s.sleep(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config()
			cfg.Op, cfg.OnLost = 0, soft.Stop
			s := begin(t, cfg, policy.State{})
			s.fleet(1, 2, 3, 4, 5)
			token := born(1, 10)
			wander.SetOp(&token.Load, 60_000)
			s.arrive(token, 1)
			disturb(s)
			s.advance(time.Second)
			s.finish()
			s.wantOp(time.Minute, wander.OpMeasured, maxInterval)
		})
	}
}

// A new token carries what its maker knew.
func TestANewTokenCarriesTheEstimateOn(t *testing.T) {
	s := measuring(t)
	s.run(0, 8*time.Second)
	s.advance(maxInterval)
	if made := s.lastSent(handoff.KindToken); made.Token.ID == born(1, 0).ID || wander.OpOf(&made.Load) != 8000 {
		t.Errorf("it makes %+v", made)
	}
}

package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
)

const retryAfter = time.Minute

func withRetry() wander.Config {
	cfg := config()
	cfg.RetryAfter = retryAfter
	return cfg
}

// retrying starts a member that repeats failed runs, in a fleet of five that has a token.
func retrying(t *testing.T, saved policy.State) *scenario {
	t.Helper()
	s := begin(t, withRetry(), saved)
	s.fleet(1, 2, 3, 4, 5)
	return s
}

// ends lets the member run for op, with that outcome, and pass the token on.
func (s *scenario) ends(o policy.Outcome) {
	s.t.Helper()
	s.arrive(born(1, 10), 1)
	s.wantState("running")
	s.advance(op)
	s.step(policy.Event{Kind: policy.Finished, Outcome: o})
	s.ack()
}

// since is a state that was saved, for a member that starts an hour after time zero instead of now.
func since(saved policy.State, now policy.Time) policy.State {
	saved.LastRun = policy.Time(time.Hour).Add(saved.LastRun.Sub(now))
	return saved
}

// wantDueIn wants that the member is due after d, and why it is not before.
func (s *scenario) wantDueIn(d time.Duration, why string) {
	s.t.Helper()
	st := s.m.Status(s.now.Time)
	if got := st.NextRun.Sub(s.now.Time); got != d || st.Why != why {
		s.t.Fatalf("it is due in %v, because %q; want %v, because %q", got, st.Why, d, why)
	}
}

func TestAFailedRunIsRepeatedAfterRetryAfter(t *testing.T) {
	s := retrying(t, policy.State{})
	s.ends(policy.Failed)
	s.wantDueIn(retryAfter, pace.WhyFailed)
	s.advance(retryAfter - time.Millisecond)
	s.arrive(born(1, 10), 1)
	s.wantState("resting")
	s.advance(skip)
	s.ack()
	s.arrive(born(1, 10), 1)
	s.wantRuns(2)
}

func TestTheWaitDoublesWithEachFailureInARowUpToMinInterval(t *testing.T) {
	s := retrying(t, policy.State{})
	for _, wait := range []time.Duration{1, 2, 4, 8} {
		s.ends(policy.Failed)
		s.wantDueIn(wait*retryAfter, pace.WhyFailed)
		s.advance(wait * retryAfter)
	}
	for range 300 {
		s.ends(policy.Failed)
		s.wantDueIn(minInterval-op, pace.WhyFailed)
		s.advance(minInterval - op)
	}
}

func TestASuccessEndsTheRowOfFailures(t *testing.T) {
	s := retrying(t, policy.State{})
	for _, o := range []policy.Outcome{policy.Failed, policy.Failed} {
		s.ends(o)
		s.advance(minInterval)
	}
	s.ends(policy.Succeeded)
	s.wantDueIn(minInterval-op, pace.WhyTooSoon)
	if memo := soft.MemoOf(&s.saved.Memo); memo.Failures != 0 || memo.Wait != 0 {
		t.Errorf("it saves %+v", memo)
	}
	s.advance(minInterval)
	s.ends(policy.Failed)
	s.wantDueIn(retryAfter, pace.WhyFailed)
}

func TestNotNowIsNoFailureAndIsAskedAgainAfterRetryAfter(t *testing.T) {
	s := retrying(t, policy.State{})
	for range 5 {
		s.ends(policy.NotNow)
		s.wantDueIn(retryAfter, pace.WhyNotNow)
		s.advance(retryAfter)
	}
	s.ends(policy.Failed)
	s.wantDueIn(retryAfter, pace.WhyFailed)
}

func TestHowLongNotNowTookSaysNothingOfTheOperation(t *testing.T) {
	cfg := withRetry()
	cfg.Op = 0
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	s.ends(policy.NotNow)
	if d := s.m.Detail(s.now.Time); d.OpSource != wander.OpAssumed {
		t.Errorf("op is %v, %v", d.Op, d.OpSource)
	}
}

func TestARestartForgetsNeitherTheWaitNorTheFailures(t *testing.T) {
	s := retrying(t, policy.State{})
	s.ends(policy.Failed)
	s.advance(retryAfter)
	s.ends(policy.Failed)
	again := retrying(t, since(s.saved, s.now.Time))
	again.wantDueIn(2*retryAfter, pace.WhyFailed)
	again.advance(2 * retryAfter)
	again.ends(policy.Failed)
	again.wantDueIn(4*retryAfter, pace.WhyFailed)
}

// The end of that run was not seen, so it may have done its work.
func TestARunThatItsProcessDidNotSurviveCountsForMinInterval(t *testing.T) {
	s := retrying(t, policy.State{})
	s.ends(policy.Failed)
	s.advance(retryAfter)
	s.arrive(born(1, 10), 1)
	s.wantState("running")
	again := retrying(t, since(s.saved, s.now.Time))
	again.wantDueIn(minInterval, pace.WhyTooSoon)
}

func TestADeniedRepetitionIsStillDue(t *testing.T) {
	s := retrying(t, policy.State{})
	s.ends(policy.Failed)
	s.advance(retryAfter)
	s.arrive(born(1, 10), 1)
	s.step(policy.Event{Kind: policy.Finished, Denied: true})
	s.wantDueIn(0, wander.WhyPassing)
}

func TestASavedWaitIsNeverLongerThanMinInterval(t *testing.T) {
	for _, wait := range []time.Duration{-1, minInterval + 1, 1<<63 - 1} {
		s := begin(t, withRetry(), policy.State{})
		memo := soft.Memo{Token: born(1, 1).ID, Wait: wait, Failures: 3}
		s = retrying(t, policy.State{HasRun: true, LastRun: s.now.Time, Memo: memo.Bytes()})
		s.wantDueIn(minInterval, pace.WhyTooSoon)
	}
}

func TestWithoutRetryAfterAFailedRunCountsAsAnyOther(t *testing.T) {
	for _, o := range []policy.Outcome{policy.Failed, policy.NotNow} {
		s := inFleet(t)
		s.ends(o)
		s.wantDueIn(minInterval-op, pace.WhyTooSoon)
	}
}

// In a gate with a hook, a command may run within min_interval, and its end tells nothing about the hook.
func TestACommandThatFailsIsNotRepeated(t *testing.T) {
	s := retrying(t, policy.State{})
	s.ends(policy.Succeeded)
	s.wanted()
	s.arrive(born(1, 10), 1)
	if !s.demanded {
		t.Fatal("the run is not for those who wait")
	}
	s.step(policy.Event{Kind: policy.Finished, Outcome: policy.Failed})
	s.wantDueIn(minInterval-op, pace.WhyTooSoon)
}

func TestAFailureUnderOneTokenCountsUnderAll(t *testing.T) {
	b := boothOf(t, wander.NewGate(withRetry(), 2), policy.State{})
	for i, wait := range []time.Duration{retryAfter, 2 * retryAfter} {
		b.arrive(slotted(uint8(i), 1, 10))
		b.step(policy.Event{Kind: policy.Finished, Outcome: policy.Failed})
		if got := b.m.Status(b.now.Time).NextRun.Sub(b.now.Time); got != wait {
			t.Fatalf("after %d failures it is due in %v, want %v", i+1, got, wait)
		}
		b.now.Time = b.now.Time.Add(wait)
	}
	again := boothOf(t, wander.NewGate(withRetry(), 2), since(b.saved, b.now.Time))
	for slot := range 2 {
		if next := again.m.(policy.Slotted).SlotStatus(slot, again.now.Time).NextRun; next != again.now.Time {
			t.Errorf("after a restart it is due in %v under token %d, want now", next.Sub(again.now.Time), slot)
		}
	}
}

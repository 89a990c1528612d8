package wander_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
)

// onDemand starts a member of a gate on demand, in a fleet of five that has a token.
func onDemand(t *testing.T, change func(*wander.Config)) *scenario {
	t.Helper()
	cfg := config()
	cfg.OnDemand, cfg.MinInterval, cfg.Walk = true, 0, wander.Sweep
	if change != nil {
		change(&cfg)
	}
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	return s
}

func (s *scenario) wanted()   { s.t.Helper(); s.step(policy.Event{Kind: policy.Wanted}) }
func (s *scenario) unwanted() { s.t.Helper(); s.step(policy.Event{Kind: policy.Unwanted}) }

func (s *scenario) wantWhy(want string) {
	s.t.Helper()
	if st := s.m.Status(s.now.Time); st.Why != want || (st.NextRun == policy.Never) != (want == soft.WhyUnwanted) {
		s.t.Fatalf("it does not run because it is %q, and may run at %v; want %q", st.Why, st.NextRun, want)
	}
}

func TestOnDemandAMemberThatNobodyWantsPassesTheTokenOn(t *testing.T) {
	s := onDemand(t, nil)
	s.wantWhy(soft.WhyUnwanted)
	for range 3 {
		s.arrive(born(1, 10), 1)
		s.wantState("resting")
		s.advance(skip)
		s.ack()
	}
	s.wantRuns(0)
}

func TestADemandIsServedOnceByTheNextToken(t *testing.T) {
	s := onDemand(t, nil)
	s.wanted()
	s.wantWhy(wander.WhyNoToken)
	s.arrive(born(1, 10), 1)
	s.wantRuns(1)
	s.finish()
	s.ack()
	s.wantWhy(soft.WhyUnwanted)
	s.arrive(born(1, 10), 1)
	s.wantState("resting")
	s.wantRuns(1)
}

func TestATokenThatRestsServesADemandAtOnce(t *testing.T) {
	s := onDemand(t, nil)
	s.arrive(born(1, 10), 1)
	s.advance(skip / 2)
	s.wanted()
	s.wantRuns(1)
}

func TestACallerThatAsksDuringARunGetsTheNextRun(t *testing.T) {
	s := onDemand(t, nil)
	s.wanted()
	s.arrive(born(1, 10), 1)
	s.wanted()
	s.finish()
	s.wantState("offering") // The others come first.
	s.ack()
	s.wantRuns(1)
	s.wantWhy(wander.WhyNoToken)
	s.arrive(born(1, 10), 1)
	s.wantRuns(2)
}

func TestADeniedRunWaitsForTheNextToken(t *testing.T) {
	s := onDemand(t, nil)
	s.wanted()
	s.arrive(born(1, 10), 1)
	s.step(policy.Event{Kind: policy.Finished, Denied: true})
	s.wanted()
	s.wantState("resting")
	s.wantRuns(1)
	s.wantWhy(wander.WhyPassing)
	s.advance(skip)
	s.ack()
	s.arrive(born(1, 10), 1)
	s.wantRuns(2)
}

func TestADemandThatIsTakenBackLeadsToNoRun(t *testing.T) {
	s := onDemand(t, nil)
	s.wanted()
	s.unwanted()
	s.wantWhy(soft.WhyUnwanted)
	s.arrive(born(1, 10), 1)
	s.wantState("resting")
	s.wantRuns(0)
}

func TestADemandThatIsTakenBackBeforeItsRunIsSavedLeadsToNoRun(t *testing.T) {
	s := onDemand(t, nil)
	s.disk = slowDisk
	s.wanted()
	s.arrive(born(1, 10), 1)
	s.wantState("saving")
	s.unwanted()
	s.wantState("resting")
	s.saves(false)
	s.wantRuns(0)
	s.wantNoRunSaved()
}

func TestMinIntervalHoldsForDemandsToo(t *testing.T) {
	s := onDemand(t, func(cfg *wander.Config) { cfg.MinInterval = minInterval })
	s.wanted()
	s.arrive(born(1, 10), 1)
	s.finish()
	s.ack()
	s.wanted()
	s.wantWhy(pace.WhyTooSoon)
	s.arrive(born(1, 10), 1)
	s.wantState("resting")
	s.wantRuns(1)
}

func TestATokenWaitsForAMemberThatIsWantedAndDueSoonAndNotIfItIsNotWanted(t *testing.T) {
	s := onDemand(t, func(cfg *wander.Config) { cfg.MinInterval = minInterval })
	s.wanted()
	s.arrive(born(1, 10), 1)
	s.finish()
	s.ack()
	s.advance(minInterval - 4*skip) // A lap is five.
	s.arrive(born(1, 10), 1)
	s.wanted()
	s.advance(3 * skip)
	s.wantState("resting")
	s.unwanted()
	s.advance(skip / 2)
	s.wanted()
	s.wantState("resting")
	s.advance(skip / 2)
	s.wantRuns(2)
	s.finish()
	s.ack()
	s.advance(minInterval - 4*skip)
	s.arrive(born(1, 10), 1)
	s.wanted()
	s.unwanted()
	s.advance(skip)
	s.wantState("offering")
}

func TestAMemberAloneRunsWheneverItIsWantedAndIsNotWokenOtherwise(t *testing.T) {
	s := onDemand(t, nil)
	s.view(3)
	s.arrive(born(1, 10), 1)
	s.wantState("resting")
	if at, ok := s.m.NextWake(); ok {
		t.Errorf("it wants to be woken in %v", at.Sub(s.now.Time))
	}
	for n := range 3 {
		s.advance(time.Minute)
		s.wanted()
		s.wantRuns(n + 1)
		s.finish()
		s.wantState("resting")
	}
	s.view(1, 2, 3)
	s.advance(skip)
	s.wantState("offering")
}

func TestAMemberThatLeavesRunsForNobody(t *testing.T) {
	s := onDemand(t, nil)
	s.arrive(born(1, 10), 1)
	s.leave()
	s.wanted()
	s.wantState("offering")
	s.wantRuns(0)
}

// wantDemanded wants a number of runs, and that the last of them is for waiting callers, or is the hook's.
func (s *scenario) wantDemanded(runs int, demanded bool) {
	s.t.Helper()
	s.wantRuns(runs)
	if s.demanded != demanded {
		s.t.Fatalf("the run is for those who wait: %v", s.demanded)
	}
}

// In a gate with a hook, waiting callers are served at once, and the hook is due as if they had not been.
func TestADemandIsServedWithinTheHooksMinInterval(t *testing.T) {
	s := inFleet(t)
	s.arrive(born(1, 10), 1)
	s.wantDemanded(1, false)
	ran := s.m.Status(s.now.Time).LastRun
	s.finish()
	s.ack()
	s.arrive(born(1, 10), 1)
	s.wantWhy(pace.WhyTooSoon)
	s.advance(skip / 2)
	s.wanted()
	s.wantDemanded(2, true)
	if s.saved.LastRun != ran {
		t.Errorf("a restart takes the run at %v for one of the hook's", s.saved.LastRun)
	}
	op := s.m.Detail(s.now.Time).Op
	s.advance(20 * skip)
	s.finish()
	if d := s.m.Detail(s.now.Time); d.Op != op {
		t.Errorf("op was %v, and is %v", op, d.Op)
	}
	if st := s.m.Status(s.now.Time); st.LastRun != ran || st.NextRun != ran.Add(minInterval) {
		t.Errorf("the hook ran at %v and is due at %v", st.LastRun, st.NextRun)
	}
	s.ack()
	s.advance(minInterval)
	s.arrive(born(1, 10), 1)
	s.wantDemanded(3, false)
}

// When both are due, the hook comes first.
func TestAHookThatIsDueComesBeforeWaitingCallers(t *testing.T) {
	s := inFleet(t)
	s.wanted()
	s.arrive(born(1, 10), 1)
	s.wantDemanded(1, false)
	s.wanted() // they still wait
	s.finish()
	s.ack()
	s.arrive(born(1, 10), 1)
	s.wantDemanded(2, true)
}

// A hook that is always due and callers without end take turns.
func TestACallerThatWaitedDuringTheHookGetsTheNextGrantAndThenTheHook(t *testing.T) {
	cfg := config()
	cfg.MinInterval = 1
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	s.wanted()
	for n := range 6 {
		s.arrive(born(1, 10), 1)
		s.wantDemanded(n+1, n%2 == 1)
		s.wanted()
		s.advance(op)
		s.finish()
		s.ack()
	}
	s.arrive(born(1, 10), 1)
	s.wanted()
	s.advance(op)
	s.finish()
	s.ack()
	s.unwanted()
	s.arrive(born(1, 10), 1)
	s.wantDemanded(8, false)
}

// A grant under which nothing could be started does not count as a turn.
func TestADeniedCallerStillComesBeforeTheHook(t *testing.T) {
	cfg := config()
	cfg.MinInterval = 1
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	s.arrive(born(1, 10), 1)
	s.wanted()
	s.finish()
	s.ack()
	s.arrive(born(1, 10), 1)
	s.wantDemanded(2, true)
	s.step(policy.Event{Kind: policy.Finished, Denied: true})
	s.wanted()
	s.advance(skip)
	s.ack()
	s.arrive(born(1, 10), 1)
	s.wantDemanded(3, true)
}

func TestACallerThatWaitsDuringTheHookHasTheNextGrantUnderAnyToken(t *testing.T) {
	cfg := config()
	cfg.MinInterval = 1
	b := boothOf(t, wander.NewGate(cfg, 2), policy.State{})
	b.arrive(slotted(0, 1, 10))
	b.step(policy.Event{Kind: policy.Wanted})
	b.step(policy.Event{Kind: policy.Finished})
	b.now.Time = b.now.Time.Add(op)
	b.arrive(slotted(1, 2, 10))
	if !slices.ContainsFunc(b.out, func(e policy.Effect) bool { return e.Kind == policy.Run && e.Demanded }) {
		t.Errorf("the run is not for callers: %v", names(b.notes()))
	}
}

func TestADemandThatIsTakenBackDoesNotKeepTheHookFromItsRun(t *testing.T) {
	s := inFleet(t)
	s.disk = slowDisk
	s.wanted()
	s.arrive(born(1, 10), 1)
	s.unwanted()
	s.saves(false)
	s.wantDemanded(1, false)
	s.finish()
	s.ack()
	s.arrive(born(1, 10), 1)
	s.wanted()
	s.unwanted()
	s.wantState("resting")
	s.saves(false)
	s.wantRuns(1)
}

// A whole lap, which takes as many skips as there are members, may pass without a run.
func TestASilenceOnDemandIsNeverShorterThanThreeLapsOfSkips(t *testing.T) {
	s := onDemand(t, func(cfg *wander.Config) { cfg.Op = time.Millisecond })
	s.wantRegenerateAfter(3 * 5 * skip)
}

// Of two tokens, one is removed although there is no min_interval, so the paper's rule would not remove it.
func TestOnDemandAYoungerTokenIsRemovedOnARandomWalkWithoutGuardiansToo(t *testing.T) {
	s := onDemand(t, func(cfg *wander.Config) { cfg.Walk = wander.Random })
	s.arrive(born(1, 10), 1)
	s.advance(skip)
	s.ack()
	younger := born(2, 10)
	wander.SetAge(&younger.Load, 10*skip)
	s.notes = nil
	s.arrive(younger, 2)
	s.wantNotes(wander.NoteArrived, wander.NoteRemoved)
}

func TestTokensOfSeveralSlotsServeADemandOnce(t *testing.T) {
	cfg := config()
	cfg.OnDemand, cfg.MinInterval = true, 0
	b := boothOf(t, wander.NewGate(cfg, 2), policy.State{})
	b.step(policy.Event{Kind: policy.Wanted})
	wantNote(t, b.arrive(slotted(0, 1, 10)), wander.NoteRan)
	wantNote(t, b.arrive(slotted(1, 2, 10)), wander.NoteResting)
	b.step(policy.Event{Kind: policy.Finished})
	b.advance(skip)
	b.step(policy.Event{Kind: policy.Woke})
	if st := b.m.Status(b.now.Time); st.Why != soft.WhyUnwanted || slices.Contains(b.notes(), wander.NoteRan) {
		t.Errorf("it does not run because it is %q, and notes %v", st.Why, names(b.notes()))
	}
}

package wander_test

import (
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
)

// unready starts a member of a sweep in a fleet of five that has a token, and whose host has not reported that it is
// ready.
func unready(t *testing.T) *scenario {
	t.Helper()
	s := windowed(t, nil, "00:00-24:00")
	s.m.SetReady(false, true)
	return s
}

// says tells the member what its host reports.
func (s *scenario) says(ready bool) {
	s.t.Helper()
	s.m.SetReady(ready, true)
	s.step(policy.Event{Kind: policy.Woke})
}

func TestAMemberWhoseHostIsNotReadyIsNotDue(t *testing.T) {
	s := unready(t)
	s.wantDueIn(0, soft.WhyNotReady)
	s.arrive(born(1, 10), 1)
	s.wantState("resting")
	s.advance(skip)
	s.wantState("offering")
	s.ack()
	s.says(true)
	s.wantDueIn(0, wander.WhyNoToken)
	s.arrive(born(1, 10), 1)
	s.wantRuns(1)
}

func TestATokenThatRestsHereIsUsedWhenTheHostIsReady(t *testing.T) {
	s := unready(t)
	s.arrive(born(1, 10), 1)
	s.wantState("resting")
	s.says(true)
	s.wantRuns(1)
}

func TestAMemberThatRanIsDueAfterMinIntervalWhateverItsHostSays(t *testing.T) {
	s := windowed(t, nil, "00:00-24:00")
	s.ran(born(1, 10))
	s.m.SetReady(false, true)
	s.wantDueIn(minInterval-op, pace.WhyTooSoon)
	s.advance(minInterval - op)
	s.wantDueIn(0, soft.WhyNotReady)
}

func TestAStartThatIsBeingSavedIsCalledOffByANo(t *testing.T) {
	s := slowly(t, born(1, 10))
	s.says(false)
	s.wantState("resting")
	s.saves(false)
	s.wantRuns(0)
	s.wantNoRunSaved()
}

// The number of a run is on the disk before the run starts, even where a caller's run replaces an operation that the
// host calls off while its start is being saved.
func TestACallerInThePlaceOfACalledOffStartWaitsForASaveOfItsOwn(t *testing.T) {
	s := slowly(t, born(1, 10))
	s.wanted()
	s.m.SetReady(false, true)
	s.saves(false)
	s.wantRuns(0)
	s.wantState("saving")
	s.saves(false)
	s.wantDemanded(1, true)
}

func TestACallerIsServedWhereTheHostIsNotReady(t *testing.T) {
	s := unready(t)
	s.wanted()
	s.arrive(born(1, 10), 1)
	s.wantDemanded(1, true)
}

func TestDueAtLeavesReadinessOut(t *testing.T) {
	s := unready(t)
	if due := s.m.DueAt(s.now.Time); due != s.now.Time {
		t.Errorf("it would be due in %v", due.Sub(s.now.Time))
	}
	s.directed(true)
	if s.m.DueAt(s.now.Time) != policy.Never {
		t.Error("a paused member would be due")
	}
}

func TestAllTokensOfAGateKnowWhetherTheHostIsReady(t *testing.T) {
	b := newBooth(t, 2, policy.State{})
	b.m.(policy.Askable).SetReady(false, true)
	for i := range 2 {
		if s := b.m.(policy.Slotted).SlotStatus(i, b.now.Time); s.Why != soft.WhyNotReady {
			t.Errorf("slot %d: %q", i, s.Why)
		}
	}
}

// The yes has an effect at once, and not only when the token has rested.
func TestAMemberThatBecomesReadyWakesAtOnce(t *testing.T) {
	s := unready(t)
	s.arrive(born(1, 10), 1)
	if at, ok := s.m.NextWake(); !ok || at <= s.now.Time {
		t.Fatalf("it asks to be woken in %v", at.Sub(s.now.Time))
	}
	s.m.SetReady(true, true)
	if at, ok := s.m.NextWake(); !ok || at > s.now.Time {
		t.Errorf("it asks to be woken in %v", at.Sub(s.now.Time))
	}
}

// A host that says that it is ready while a token rests here, which is then discarded, does not keep its member awake
// while the start of a later run is saved.
func TestAHostThatWasReadyWakesNobodyWhileAStartIsSaved(t *testing.T) {
	s := unready(t)
	s.arrive(born(5, 10), 1)
	s.wantState("resting")
	s.m.SetReady(true, true)
	s.disk = slowDisk
	s.arrive(born(1, 10), 1) // It is the older one, and is used at once.
	s.wantState("saving")
	if at, ok := s.m.NextWake(); ok && at <= s.now.Time {
		t.Error("it wants to be woken at once, again and again")
	}
}

package wander_test

import (
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
)

func (s *story) ordered(paused bool) {
	s.t.Helper()
	s.step(policy.Event{Kind: policy.Ordered, Paused: paused})
}

func TestWhileTheGateIsPausedTheTokenGoesOnWithoutARun(t *testing.T) {
	s := inFleet(t)
	s.ordered(true)
	if next := s.m.Status(s.now.Time).NextRun; next != policy.Never {
		t.Errorf("it may run at %v", next)
	}
	for range 3 {
		s.arrive(born(1, 10), 1)
		s.wantState("resting")
		s.advance(skip)
		s.ack()
	}
	s.wantRuns(0)
	s.ordered(false)
	s.arrive(born(1, 10), 1)
	s.wantRuns(1)
}

func TestATokenThatRestsIsUsedWhenTheGateIsResumed(t *testing.T) {
	s := inFleet(t)
	s.ordered(true)
	s.arrive(born(1, 10), 1)
	s.advance(skip / 2)
	s.ordered(false)
	s.wantRuns(1)
}

func TestARunThatIsNotSavedYetDoesNotStartInAPausedGate(t *testing.T) {
	s := inFleet(t)
	s.disk = slowDisk
	s.arrive(born(1, 10), 1)
	s.wantState("saving")
	s.ordered(true)
	s.wantState("resting")
	s.saves(false)
	s.wantRuns(0)
	s.wantNoRunSaved()
}

func TestAPauseDoesNotStopARun(t *testing.T) {
	s := inFleet(t)
	s.arrive(born(1, 10), 1)
	s.ordered(true)
	s.wantState("running")
	if s.stops > 0 {
		t.Error("it is stopped")
	}
	s.finish()
	s.wantState("offering")
}

func TestAMemberThatIsAlmostDueDoesNotKeepTheTokenOfAPausedGate(t *testing.T) {
	cfg := config()
	cfg.Walk = wander.Sweep
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	s.arrive(born(1, 10), 1)
	s.finish()
	s.ack()
	s.advance(s.m.Status(s.now.Time).NextRun.Sub(s.now.Time) - 3*skip)
	s.arrive(born(1, 20), 1)
	s.advance(skip)
	s.wantState("resting")
	s.ordered(true)
	s.advance(skip)
	s.wantState("offering")
	s.wantRuns(1)
}

func TestAMemberAloneKeepsTheTokenOfAPausedGate(t *testing.T) {
	s := begin(t, config(), policy.State{})
	s.ordered(true)
	s.changed(false, []int{3})
	s.wantState("resting")
	s.advance(2 * minInterval)
	s.wantRuns(0)
	s.ordered(false)
	s.wantRuns(1)
	s.finish()
	s.ordered(true)
	s.advance(2 * minInterval)
	s.wantState("resting")
	s.wantRuns(1)
	s.ordered(false)
	s.wantRuns(2)
}

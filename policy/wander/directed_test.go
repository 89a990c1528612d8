package wander_test

import (
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
)

func (s *scenario) directed(paused bool) {
	s.t.Helper()
	s.step(policy.Event{Kind: policy.Directed, Paused: paused})
}

func TestWhileTheGateIsPausedTheTokenGoesOnWithoutARun(t *testing.T) {
	s := inFleet(t)
	s.directed(true)
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
	s.directed(false)
	s.arrive(born(1, 10), 1)
	s.wantRuns(1)
}

func TestATokenThatRestsIsUsedWhenTheGateIsResumed(t *testing.T) {
	s := inFleet(t)
	s.directed(true)
	s.arrive(born(1, 10), 1)
	s.advance(skip / 2)
	s.directed(false)
	s.wantRuns(1)
}

func TestARunThatIsNotSavedYetDoesNotStartInAPausedGate(t *testing.T) {
	s := inFleet(t)
	s.disk = slowDisk
	s.arrive(born(1, 10), 1)
	s.wantState("saving")
	s.directed(true)
	s.wantState("resting")
	s.saves(false)
	s.wantRuns(0)
	s.wantNoRunSaved()
}

func TestAPauseDoesNotStopARun(t *testing.T) {
	s := inFleet(t)
	s.arrive(born(1, 10), 1)
	s.directed(true)
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
	s.directed(true)
	s.advance(skip)
	s.wantState("offering")
	s.wantRuns(1)
}

func TestAMemberAloneKeepsTheTokenOfAPausedGate(t *testing.T) {
	s := begin(t, config(), policy.State{})
	s.directed(true)
	s.changed(false, []int{3})
	s.wantState("resting")
	s.advance(2 * minInterval)
	s.wantRuns(0)
	s.directed(false)
	s.wantRuns(1)
	s.finish()
	s.directed(true)
	s.advance(2 * minInterval)
	s.wantState("resting")
	s.wantRuns(1)
	s.directed(false)
	s.wantRuns(2)
}

package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/policy/wander"
)

func settings(minInterval time.Duration) wander.Settings {
	return wander.Settings{Skip: skip, Op: op, MinInterval: minInterval, Walk: wander.Sweep, Backups: 2}
}

func tune(t *testing.T, s *scenario, with wander.Settings) {
	t.Helper()
	if !s.m.Tune(with) {
		t.Fatal("it cannot be tuned")
	}
	s.step(policy.Event{Kind: policy.Woke})
}

func TestOtherConstantsKeepTheTokenAndTheRun(t *testing.T) {
	s := inFleet(t)
	s.arrive(born(1, 10), 1)
	s.wantState("running")
	tune(t, s, settings(time.Minute))
	s.wantState("running")
	s.wantHeld(born(1, 10).ID)
	s.advance(op)
	s.finish()
	s.ack()
	s.wantDueIn(time.Minute-op, pace.WhyTooSoon)
}

func TestAMemberAloneThatNewConstantsMakeDueRunsAtOnce(t *testing.T) {
	s := begin(t, config(), policy.State{})
	s.view(3)
	s.wantRuns(1)
	s.advance(op)
	s.finish()
	s.advance(time.Minute)
	s.wantRuns(1)
	tune(t, s, settings(time.Minute))
	s.wantRuns(2)
}

func TestATokenThatRestsGoesOnWithOtherConstants(t *testing.T) {
	s := inFleet(t)
	s.ran(born(1, 10))
	s.arrive(born(1, 10), 1)
	s.wantState("resting")
	tune(t, s, settings(2*minInterval))
	s.wantState("offering")
}

func TestAWaitForARepetitionIsNeverLongerThanTheNewMinInterval(t *testing.T) {
	s := retrying(t, policy.State{})
	s.ends(policy.Failed)
	with := settings(30 * time.Second)
	with.RetryAfter = 30 * time.Second
	tune(t, s, with)
	s.wantDueIn(30*time.Second-op, pace.WhyTooSoon)
	with.RetryAfter = 0
	tune(t, s, with)
	s.wantDueIn(30*time.Second-op, pace.WhyTooSoon)
}

func TestAnotherSkipOrNumberOfSlotsChangesNothing(t *testing.T) {
	for _, with := range []wander.Settings{
		{Skip: 2 * skip, MinInterval: time.Second}, {Skip: skip, Slots: 2, MinInterval: time.Second},
	} {
		s := inFleet(t)
		if s.m.Tune(with) {
			t.Errorf("it takes %+v", with)
		}
		s.ran(born(1, 10))
		s.wantDueIn(minInterval-op, pace.WhyTooSoon)
	}
	gate := wander.NewGate(config(), 2)
	if !gate.(policy.Tunable).Tune(wander.Settings{Skip: skip, Slots: 2}) ||
		gate.(policy.Tunable).Tune(wander.Settings{Skip: skip}) {
		t.Error("a gate with two slots goes by the number of slots")
	}
}

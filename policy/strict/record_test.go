package strict_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/pace"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/policy/window"
)

// A disk may hang while it records the start of a run. Then the token goes on, as if the disk had failed: otherwise one
// such host would stop the gate for as long as its disk hangs. A save that ends after that starts nothing.
func TestAStartThatIsNotRecordedInTimeLetsTheTokenGoOn(t *testing.T) {
	s := settings(t, 3)
	s.Moves, s.Request, s.MinInterval = strict.Ring, ring.Always, time.Minute
	m := begin(s, 0)
	m.step(policy.Event{Kind: policy.Wanted})
	promise := m.passes(t, ballot.KindPromise)[0]
	won := policy.Event{Kind: policy.Received, Msg: m.answer(&promise, ballot.KindPromised, 0)}
	m.out = m.m.Step(m.now, &won, m.out[:0])
	if !m.did(policy.Save) || m.did(policy.Run) {
		t.Fatalf("it does not record its start first: %v", m.out)
	}
	if why := m.m.Status(m.now.Time).Why; why != "recording the start" {
		t.Errorf("its status says %q", why)
	}
	began, noted := m.now.Time, false
	for len(m.sent(handoff.KindToken)) == 0 {
		at, ok := m.m.NextWake()
		if !ok || at > began.Add(s.SaveWithin()) {
			t.Fatalf("its disk has hung for %v, and it keeps the token: %v", s.SaveWithin(), m.m)
		}
		m.now.Time = max(m.now.Time, at)
		m.out = m.m.Step(m.now, &policy.Event{Kind: policy.Woke}, m.out[:0])
		for _, e := range m.out {
			noted = noted || e.Kind == policy.Tell && e.Note == strict.NoteNotRecorded
		}
	}
	if m.now.Time < began.Add(s.SaveWithin()) || !noted {
		t.Errorf("it gives up after %v, noted: %v", m.now.Time.Sub(began), noted)
	}
	kept := false
	for _, e := range m.out {
		kept = kept || e.Kind == policy.Save && !e.State.HasRun
	}
	if !kept {
		t.Error("the start that has led to no run stays on the disk")
	}
	m.step(policy.Event{Kind: policy.Saved})
	if m.did(policy.Run) {
		t.Error("it runs when the token has gone")
	}
}

// A member that is due says that its host has not asked for a run.
func TestAMemberWhoseHostIsNotReadySaysSo(t *testing.T) {
	m := oncePerNight(t)
	m.m.SetReady(false, true)
	if why := m.m.Status(m.now.Time).Why; why != "due, and the host has not said that it is ready" {
		t.Errorf("it says %q", why)
	}
	m.m.SetReady(true, true)
	if why := m.m.Status(m.now.Time).Why; why != "due, waiting for the token" {
		t.Errorf("its host is ready, and it says %q", why)
	}
}

// A member that is due outside of its windows says so, and names the time at which the next one opens.
func TestAMemberOutsideOfItsWindowsSaysSo(t *testing.T) {
	s := settings(t, 3)
	s.MinInterval = time.Hour
	utc := func(string) (*time.Location, error) { return time.UTC, nil }
	night, err := window.Parse("00:00-06:00", utc) // It is 8:00.
	if err != nil {
		t.Fatal(err)
	}
	s.Windows = window.Set{night}
	m := beginWith(s, 0, false)
	status := m.m.Status(m.now.Time)
	if opens := status.NextRun.Sub(m.now.Time); status.Why != pace.WhyClosed || opens != 16*time.Hour {
		t.Errorf("it says %q, and that it runs in %v", status.Why, opens)
	}
}

// A member whose disk records no start gives the token up for one that waits, and does not try again and again.
func TestAMemberThatCannotRecordLetsOthersRun(t *testing.T) {
	s := settings(t, 3)
	s.MinInterval = time.Hour
	m := beginWith(s, 0, false)
	promise := m.passes(t, ballot.KindPromise)[0]
	step := func(ev policy.Event) { m.out = m.m.Step(m.now, &ev, m.out[:0]) }
	step(policy.Event{Kind: policy.Received, Msg: m.answer(&promise, ballot.KindPromised, 0)})
	const waits = 1
	for _, renew := range m.sent(ballot.KindRenew) {
		step(policy.Event{Kind: policy.Received, Msg: m.answer(&renew, ballot.KindRenewed, waits)})
	}
	for range 5 {
		step(policy.Event{Kind: policy.Saved, Failed: true})
		if m.m.Ballot().Token() == nil {
			return
		}
		m.now.Time = m.now.Time.Add(s.Patience)
		step(policy.Event{Kind: policy.Woke})
	}
	t.Errorf("it keeps the token: %v", m.m)
}

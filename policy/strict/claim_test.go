package strict_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/wire"
)

const night = 20 * time.Hour

// oncePerNight begins a member of a gate that runs once in a night for all.
func oncePerNight(t *testing.T) *member {
	t.Helper()
	s := settings(t, 3)
	s.Moves, s.MinInterval, s.Once = strict.Ring, night, true
	return beginWith(s, 0, false)
}

// putOff is turn, in which the member must not run.
func (m *member) putOff(t *testing.T, left time.Duration, knows bool) (saved policy.State) {
	t.Helper()
	saved, ran := m.turn(t, left, knows)
	if ran {
		t.Fatal("it runs")
	}
	return saved
}

// turn lets a member have its turn in a gate whose interval is that of member b for some time, as the others say, or as
// it says itself. It returns what it has saved last, and whether it runs.
func (m *member) turn(t *testing.T, left time.Duration, knows bool) (saved policy.State, ran bool) {
	t.Helper()
	s := m.s
	if knows {
		claim := policy.Claim{By: s.Roster.ID(1), Life: 7, Seq: 1, Until: m.now.Time.Add(left), For: night}
		m.step(policy.Event{Kind: policy.Started, State: policy.State{Claim: claim}})
	}
	promise := m.passes(t, ballot.KindPromise)[0]
	answers := []wire.Message{m.answer(&promise, ballot.KindPromised, 0)}
	for len(answers) > 0 {
		msg := answers[0]
		answers = answers[1:]
		m.step(policy.Event{Kind: policy.Received, Msg: msg})
		for _, e := range m.out {
			if e.Kind == policy.Save {
				saved = e.State
			}
		}
		if m.did(policy.Run) {
			return saved, true
		}
		for _, q := range m.sent(ballot.KindRenew) {
			a := m.answer(&q, ballot.KindRenewed, 0)
			if claims := int64(binary.BigEndian.Uint64(q.Load[24:])) > 0; claims && !knows {
				binary.BigEndian.PutUint64(a.Load[8:], uint64(left))
				by := s.Roster.ID(1)
				copy(a.Load[40:], by[:])
			}
			answers = append(answers, a)
		}
	}
	return saved, false
}

// Callers run also in the interval of another member: theirs is no run for all.
func TestACallerRunsInTheIntervalOfAnother(t *testing.T) {
	m := oncePerNight(t)
	m.m.SetReady(false, true)
	m.step(policy.Event{Kind: policy.Wanted})
	if _, ran := m.turn(t, time.Hour, true); !ran {
		t.Error("it does not run")
	}
}

// A member that is put off says for whom, and tries again when that interval is over.
func TestAMemberWaitsForTheIntervalOfAnother(t *testing.T) {
	m := oncePerNight(t)
	m.putOff(t, time.Hour, false)
	s := m.m.Status(m.now.Time)
	if left := s.NextRun.Sub(m.now.Time); left < time.Hour-time.Minute || left > time.Hour ||
		!strings.HasPrefix(s.Why, "b has run for all in this interval") {
		t.Errorf("it is due in %v; %s", left, s.Why)
	}
	resumed := wire.Directive{Stamp: uint64(m.now.Wall / int64(time.Millisecond)), By: m.s.Roster.ID(2)}
	m.step(policy.Event{Kind: policy.Directed, Directive: resumed})
	if s := m.m.Status(m.now.Time); s.NextRun > m.now.Time {
		t.Errorf("the gate was resumed, and it is due in %v", s.NextRun.Sub(m.now.Time))
	}
}

// What an operator has said ends the claims from before, and not those that come after it, although the operator's
// clock is ahead. A member that is told of one from before asks again when it is as long after that word again.
func TestAnOperatorsClockThatIsAheadEndsNoClaimsToCome(t *testing.T) {
	for _, age := range []time.Duration{time.Second, time.Hour} {
		m := oncePerNight(t)
		said := m.now.Time
		ahead := m.now.Wall + int64(time.Minute)
		resumed := wire.Directive{Stamp: uint64(ahead / int64(time.Millisecond)), By: m.s.Roster.ID(2)}
		m.step(policy.Event{Kind: policy.Directed, Directive: resumed})
		m.now.Time, m.now.Wall = m.now.Time.Add(2*time.Second), m.now.Wall+int64(2*time.Second)
		m.putOff(t, night-age, false)
		waits := m.m.Status(m.now.Time).NextRun.Sub(m.now.Time)
		if since := m.now.Time.Sub(said); age > since && waits != since || age < since && waits != night-age {
			t.Errorf("%v after that word, for a claim that was made %v ago, it waits %v", since, age, waits)
		}
	}
}

// A member that starts again knows from its disk when an operator has resumed the gate. A clock that is behind ends no
// claim by that.
func TestAMemberThatStartsAgainKnowsThatTheGateWasResumed(t *testing.T) {
	const since, quarantine = 10 * time.Minute, 10 * time.Second
	for _, tc := range []struct{ age, behind, waits time.Duration }{
		{time.Hour, 0, since},
		{time.Minute, 0, night - time.Minute},
		{time.Minute, time.Hour, 0},
	} {
		m := oncePerNight(t)
		given := m.now.Wall - int64(since-tc.behind)
		resumed := wire.Directive{Stamp: uint64(given / int64(time.Millisecond)), By: m.s.Roster.ID(2)}
		claim := policy.Claim{By: m.s.Roster.ID(1), Life: 7, Seq: 1, Until: m.now.Time.Add(night - tc.age), For: night}
		m.step(policy.Event{Kind: policy.Started, State: policy.State{Directive: resumed, Claim: claim}})
		m.putOff(t, night-tc.age, false)
		waits := m.m.Status(m.now.Time).NextRun.Sub(m.now.Time)
		if waits > tc.waits+quarantine || waits < tc.waits-quarantine {
			t.Errorf("for a claim that was made %v ago it waits %v, want %v", tc.age, waits, tc.waits)
		}
		if m.m.Ballot().Claim() != claim {
			t.Errorf("its own support has ended, and its clock is %v behind", tc.behind)
		}
	}
}

// After a restart it would else wait for min_interval, as if it had run.
func TestAStartThatWasNoneIsNotRemembered(t *testing.T) {
	for _, knows := range []bool{true, false} {
		if saved := oncePerNight(t).putOff(t, time.Hour, knows); saved.HasRun {
			t.Errorf("it has saved a run at %v; it knows of the claim: %v", saved.LastRun, knows)
		}
	}
}

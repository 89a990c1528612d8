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

// putOff lets a member have its turn in a gate whose interval is that of member b for another hour, as the others say,
// or as it says itself. It returns what it has saved last.
func putOff(t *testing.T, knows bool) (m *member, saved policy.State) {
	t.Helper()
	s := settings(t, 3)
	s.Moves, s.MinInterval, s.Once = strict.Ring, night, true
	m = beginWith(s, 0, false)
	if knows {
		claim := policy.Claim{By: s.Roster.ID(1), Life: 7, Seq: 1, Until: m.now.Time.Add(time.Hour), For: night}
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
			t.Fatal("it runs")
		}
		for _, q := range m.sent(ballot.KindRenew) {
			a := m.answer(&q, ballot.KindRenewed, 0)
			if claims := int64(binary.BigEndian.Uint64(q.Load[24:])) > 0; claims && !knows {
				binary.BigEndian.PutUint64(a.Load[8:], uint64(time.Hour))
				by := s.Roster.ID(1)
				copy(a.Load[40:], by[:])
			}
			answers = append(answers, a)
		}
	}
	return m, saved
}

// A member that is put off says for whom, and tries again when that interval is over.
func TestAMemberWaitsForTheIntervalOfAnother(t *testing.T) {
	m, _ := putOff(t, false)
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

// After a restart it would else wait for min_interval, as if it had run.
func TestAStartThatWasNoneIsNotRemembered(t *testing.T) {
	for _, knows := range []bool{true, false} {
		if _, saved := putOff(t, knows); saved.HasRun {
			t.Errorf("it has saved a run at %v; it knows of the claim: %v", saved.LastRun, knows)
		}
	}
}

package directive_test

import (
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/directive"
	"github.com/wanderd/wanderd/wire"
)

// losing is a machine that tells of a host that has stayed away, when it is asked for a promise.
type losing struct {
	*eager
	lost wire.MemberID
}

func (m *losing) Step(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	if ev.Kind == policy.Received {
		out = policy.AppendTell(out, policy.NoteStayedAway, m.lost, nil)
	}
	return m.eager.Step(now, ev, out)
}

// loses returns a desk whose machine tells that a host has stayed away.
func loses(t *testing.T, lost wire.MemberID) *desk {
	d := newDesk(t, 0)
	d.Layer = directive.New(&losing{d.m, lost}, self, 0)
	d.step(policy.Event{Kind: policy.Started})
	return d
}

// "A host that stays away for longer than its grant is kept stops the gate": before anybody else can run, because the
// message that lets another member run carries the directive. A host that is here stops nobody.
func TestAHostThatStaysAwayPausesTheGate(t *testing.T) {
	for name, c := range map[string]struct {
		stands bool
		peers  []wire.MemberID
		pauses bool
	}{
		"the gate stands still": {true, []wire.MemberID{self, other}, true},
		"nobody is here":        {true, nil, true},
		"the host is here":      {true, []wire.MemberID{self, other, third}, false},
		"the gate gives up":     {false, []wire.MemberID{self, other}, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := loses(t, third)
			d.StandStill(c.stands)
			d.step(policy.Event{Kind: policy.PeersChanged, Peers: c.peers})
			d.hears(wire.Directive{})
			o := d.Newest()
			if d.Paused() != c.pauses || (o != wire.Directive{}) != c.pauses || c.pauses && o.Until != wire.ForEver {
				t.Fatalf("paused %v: %+v", d.Paused(), o)
			}
			if sent := d.last(policy.Send); sent.Msg.Directive != o {
				t.Errorf("the message has %+v", sent.Msg.Directive)
			}
			want := map[bool]int{true: 1}[c.pauses]
			if d.count(policy.Proclaim) != want || d.count(policy.Save) != want {
				t.Errorf("%v", d.out)
			}
			if d.step(policy.Event{Kind: policy.Woke}); (d.count(policy.Run) == 0) != c.pauses {
				t.Errorf("it runs: %v", d.out)
			}
			if d.gives(0); d.Paused() {
				t.Error("nobody can resume it")
			}
		})
	}
}

// A gate that is paused already stays as it is: the reason of its operator counts.
func TestAHostThatStaysAwayChangesNoPause(t *testing.T) {
	d := loses(t, third)
	d.StandStill(true)
	o := d.gives(wire.ForEver)
	if d.hears(wire.Directive{}); d.Newest() != o {
		t.Errorf("%+v", d.Newest())
	}
}

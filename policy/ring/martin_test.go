package ring

import (
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// hear lets a machine hear a message.
func hear(m *Machine, from wire.MemberID, r request) []policy.Effect {
	msg := wire.Message{Kind: KindRequest, From: from, To: m.cfg.Self}
	r.write(&msg)
	return m.Step(policy.Instant{}, &policy.Event{Kind: policy.Received, Msg: msg}, nil)
}

// "A move of the token over a link answers all requests that were made before it on that link."
func TestARequestThatTheTokenHasAnsweredIsNotHeard(t *testing.T) {
	members := rosterOf(4)
	m := New(configOf(Martin, members, 0))
	m.Step(policy.Instant{}, &policy.Event{Kind: policy.PeersChanged, Peers: members}, nil)
	for i, want := range []struct {
		knows wire.Seq
		hears bool
	}{{0, true}, {0, false}, {1, true}} {
		if heard := len(hear(m, members[1], request{count: want.knows})) > 0; heard != want.hears {
			t.Errorf("request %d, of a member that knows number %d: that it leads to something is %t", i, want.knows,
				heard)
		}
	}
}

// A member's request goes back to the member before it, and arrives before the member's call that has gone round.
func TestMartinsRequestMakesNoCallOld(t *testing.T) {
	cfg := configOf(Martin, rosterOf(4), 2)
	cfg.Links, cfg.Rejoins = UDP, true
	m := New(cfg)
	m.Step(policy.Instant{}, &policy.Event{Kind: policy.PeersChanged, Peers: cfg.Members}, nil)
	hear(m, cfg.Members[3], request{origin: 3, number: 2})
	before := len(m.udp.outbox)
	hear(m, cfg.Members[1], request{origin: 3, number: 1, call: 7})
	if len(m.udp.outbox) != before+1 {
		t.Errorf("%d messages are to be sent, want one more than %d", len(m.udp.outbox), before)
	}
}

package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// renewed is a token by the second of its birth, of that age, which an operator has asked for.
func renewed(second int, age time.Duration) guardian.Token {
	t := born(second, 40)
	t.ID.Random = t.ID.Random<<16 | 0x4e3d
	wander.SetAge(&t.Load, age)
	return t
}

// Nothing that happened before the new token was made counts against it: neither a run under the lost one, nor that
// this one was passed on.
func TestNothingBeforeARenewedTokenCountsAgainstIt(t *testing.T) {
	for _, walk := range wander.Walks() {
		for age, want := range map[time.Duration]policy.Note{
			0: wander.NoteResting, time.Minute: wander.NoteResting, 3 * time.Minute: wander.NoteRemoved,
		} {
			cfg := config()
			cfg.Walk = walk
			s := begin(t, cfg, policy.State{})
			s.fleet(1, 2, 3, 4, 5)
			s.ran(born(1, 10))
			s.advance(2 * time.Minute)
			s.arrive(renewed(130, age), 5)
			s.wantNotes(wander.NoteArrived, want)
		}
	}
}

func TestAMemberMakesANewTokenForAnOperatorUnlessItKnowsOfOne(t *testing.T) {
	for name, c := range map[string]struct {
		scenario func(s *scenario)
		knows    string
	}{
		"it holds the token": {func(s *scenario) { s.arrive(born(1, 10), 1) }, "holds the token"},
		"it passed it on just now": {
			func(s *scenario) { s.ran(born(1, 10)); s.advance(time.Second) },
			"had the token, or heard of it, 1s ago: it may be on its way",
		},
		"one is about to come": {
			func(s *scenario) { s.receive(s.offerIn(born(1, 10), 1)) }, "is about to get the token",
		},
		"it leaves":                   {func(s *scenario) { s.leave() }, "leaves the gate"},
		"it passed it on a while ago": {func(s *scenario) { s.ran(born(1, 10)); s.advance(time.Minute) }, ""},
		"it never had any":            {func(*scenario) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := inFleet(t)
			c.scenario(s)
			s.notes = nil
			if got := s.m.Knows(0, s.now.Time); got != c.knows {
				t.Errorf("it %q, want %q", got, c.knows)
			}
			s.step(policy.Event{Kind: policy.Renew})
			if c.knows != "" {
				s.wantNotes()
				return
			}
			id := s.m.Detail(s.now.Time).Token.ID
			if !wander.IsRenewed(id) || wander.IsFirst(id) || len(s.notes) == 0 || s.notes[0] != wander.NoteRenewed {
				t.Errorf("it makes %v (%x), and notes %v", id, id.Random, names(s.notes))
			}
			if s.m.Knows(1, s.now.Time) == "" {
				t.Error("it would make a token for a slot that it does not have")
			}
		})
	}
}

// A gate with several tokens renews the one that is lost.
func TestOnlyTheSlotThatIsAskedForGetsANewToken(t *testing.T) {
	m := wander.NewGate(config(), 3).(*wander.Slots)
	now := policy.Instant{Time: policy.Time(time.Hour), Wall: noon}
	m.Step(now, &policy.Event{Kind: policy.Started}, nil)
	m.Step(now, &policy.Event{
		Kind: policy.PeersChanged, Peers: []wire.MemberID{id(2), self, id(4)}, TokenKnown: true,
	}, nil)
	m.Step(now, &policy.Event{Kind: policy.Renew, Slot: 1}, nil)
	for slot, want := range []string{"", "holds the token", "", "has no such token"} {
		if got := m.Knows(slot, now.Time); got != want {
			t.Errorf("slot %d: it %q, want %q", slot, got, want)
		}
	}
}

package ring

import (
	"slices"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// A call in its second round has met no token: "when S_T crashes later, an old copy would become a second token".
func TestACallInItsSecondRoundLeavesNoCopies(t *testing.T) {
	cfg := configOf(Q, rosterOf(4), 2)
	cfg.Backups = 2
	m := New(cfg)
	m.Step(policy.Instant{}, &policy.Event{Kind: policy.PeersChanged, Peers: cfg.Members}, nil)
	for round, want := range []kcopies.Token{kcopies.Backup, kcopies.None} {
		msg := wire.Message{Kind: KindRequest, From: cfg.Members[1], To: cfg.Self}
		request{call: 1, tour: 1, origin: 3, round: round == 1}.write(&msg)
		m.Step(policy.Instant{}, &policy.Event{Kind: policy.Received, Msg: msg}, nil)
		if got := m.copies.Token(); got != want {
			t.Errorf("round %d: token is %v, want %v", round+1, got, want)
		}
	}
}

// "The member after it calls for a tour": requests, and the token itself, may have gone with the crashed one.
func TestTheMemberAfterACrashedOneCalls(t *testing.T) {
	members := rosterOf(4)
	for self, want := range map[int]bool{2: true, 3: false} {
		m := New(configOf(Q, members, self))
		m.Step(policy.Instant{}, &policy.Event{Kind: policy.PeersChanged, Peers: members}, nil)
		live := []wire.MemberID{members[0], members[2], members[3]}
		calls := false
		for _, e := range m.Step(policy.Instant{}, &policy.Event{Kind: policy.PeersChanged, Peers: live}, nil) {
			calls = calls || e.Kind == policy.Send && requestOf(&e.Msg).call != 0
		}
		if calls != want {
			t.Errorf("member 1 crashes, and that member %d calls is %t", self, calls)
		}
	}
}

// A copy that was on its way to an earlier life may be older than what that life knew: it would become a second token.
// Once the token has come, its copies are taken as by any other member.
func TestAMemberThatIsBackTakesNoCopyBeforeTheToken(t *testing.T) {
	members := rosterOf(4)
	sender := New(configOf(Q, members, 0))
	for _, tc := range []struct{ rejoins, met bool }{{false, false}, {true, false}, {true, true}} {
		cfg := configOf(Q, members, 2)
		cfg.Backups, cfg.Rejoins = 2, tc.rejoins
		m := New(cfg)
		m.met = tc.met
		m.Step(policy.Instant{}, &policy.Event{Kind: policy.PeersChanged, Peers: members}, nil)
		msg := wire.Message{Kind: kcopies.KindToken, From: members[0], To: members[2]}
		msg.Token, msg.Load = sender.copies.Hop(1, &kcopies.Data{})
		m.Step(policy.Instant{}, &policy.Event{Kind: policy.Received, Msg: msg}, nil)
		if kept := m.copies.Token() == kcopies.Backup; kept != (tc.met || !tc.rejoins) {
			t.Errorf("it is back: %t; it has met the token: %t; it has a copy: %t", tc.rejoins, tc.met, kept)
		}
	}
}

// Operators hear of a token that a call has made.
func TestATokenThatACallHasMadeIsTold(t *testing.T) {
	m := New(configOf(Q, rosterOf(4), 1))
	told := func(e policy.Effect) bool { return e.Kind == policy.Tell && e.Note == NoteRemade }
	if out := m.begin(policy.Instant{}, 1, nil); !slices.ContainsFunc(out, told) {
		t.Errorf("it does %+v", out)
	}
}

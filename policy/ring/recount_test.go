package ring

import (
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

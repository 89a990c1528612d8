package ring

import (
	"testing"

	"github.com/wanderd/wanderd/policy"
)

// "A request that was made before the last recounting tour came to its member was served by that tour, and counts no
// more."
func TestARequestOfBeforeTheTourMovesNoToken(t *testing.T) {
	members := rosterOf(4)
	for tour, moves := range map[uint32]bool{4: false, 5: true} {
		m := New(configOf(Q, members, 0))
		m.Step(policy.Instant{}, &policy.Event{Kind: policy.PeersChanged, Peers: members}, nil)
		m.T.tour = 5
		if hear(m, members[3], request{tour: tour}); m.holds() == moves {
			t.Errorf("the token is on tour 5, a request is of tour %d: the token stays is %t", tour, m.holds())
		}
	}
}

// "A token that has been with all members and has met nobody who waits has counted a request whose member has left
// since: it rests."
func TestATokenThatMeetsNobodyRests(t *testing.T) {
	w := newWorld(t, Q, 4)
	w.machines[0].T.counter = 1 // one too many
	w.ask(2)
	for range 100 {
		w.round()
	}
	if w.runs[2] != 1 || w.machines[2].pending || w.moves > 3*len(w.members) {
		t.Errorf("runs %v, %d moves", w.runs, w.moves)
	}
}

// A token that meets a waiting member has not visited all in vain.
func TestATokenThatMeetsAWaitingMemberCountsItsVisitsAfresh(t *testing.T) {
	for _, waits := range []bool{false, true} {
		m := New(configOf(Q, rosterOf(4), 1))
		m.T, m.pending = token{counter: 2, idle: 2}, waits
		m.qMeets()
		if want := map[bool]int{false: 3, true: 0}[waits]; int(m.T.idle) != want {
			t.Errorf("the member waits: %t; the token has visited %d in vain, want %d", waits, m.T.idle, want)
		}
	}
}

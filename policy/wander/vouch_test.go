package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// No member revives or makes a token while another runs: a member that runs answers so, even if it has lost its token.

// runningWithout starts a member that runs, and has lost its token to a copy with a higher number.
func runningWithout(t *testing.T) *scenario {
	t.Helper()
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 5)
	s.receive(word(guardian.KindHeartbeat, 2, guardedBy(born(1, 1000), 5, 4)))
	s.wantState("running")
	if s.m.Detail(s.now.Time).Holding {
		t.Fatal("it holds the token")
	}
	s.sent = nil
	return s
}

func TestARunWithoutItsTokenCountsAsAHolderJustHeard(t *testing.T) {
	beyond := wire.LatestSeq(noon + int64(100*time.Hour))
	for name, asked := range map[string]guardian.Token{
		"of the copy that it has lost":       guardedBy(born(1, 10), 3, 4),
		"of the copy that took its place":    guardedBy(born(1, 1000), 3, 4),
		"of a later copy":                    guardedBy(born(1, 2000), 3, 4),
		"of another token":                   guardedBy(born(5, 20), 3, 4),
		"by a number that it cannot believe": guardedBy(born(1, beyond), 3, 4),
	} {
		t.Run(name, func(t *testing.T) {
			s := runningWithout(t)
			s.advance(100 * patience)
			s.sent = nil
			ask := word(guardian.KindAsk, 4, asked)
			s.receive(ask)
			want := ask
			want.Kind, want.From, want.To, want.Nonce = guardian.KindHeard, self, id(4), 1
			if len(s.sent) != 1 || s.sent[0] != want {
				t.Errorf("it answers %+v, want %+v", s.sent, want)
			}
			s.finish()
			s.sent = nil
			s.receive(ask)
			if got := s.sent[len(s.sent)-1]; got.Kind == guardian.KindHeard && got.Nonce == 1 {
				t.Error("it says so after the run")
			}
		})
	}
}

// A member that has a token answers that it holds it, whether it runs or not.
func TestAMemberThatRunsUnderItsTokenSaysThatItHoldsIt(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 5)
	s.wantState("running")
	s.sent = nil
	s.receive(word(guardian.KindAsk, 4, guardedBy(born(1, 10), 3, 4)))
	s.lastSent(guardian.KindHeartbeat)
}

// A member that misses the token makes none while another member runs.
func TestARunWithoutItsTokenCountsAsATokenJustSeen(t *testing.T) {
	for name, change := range map[string]func(s *scenario){
		"at once":          func(*scenario) {},
		"after half of it": func(s *scenario) { s.advance(maxInterval / 2) },
		"after hearing of another token": func(s *scenario) {
			s.receive(word(guardian.KindHeartbeat, 2, guardedBy(born(0, 1<<40), 3, 4)))
			s.advance(maxInterval / 2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := runningWithout(t)
			change(s)
			s.sent = nil
			s.receive(wire.Message{Gate: 7, Kind: wander.KindInquiry, From: id(4), To: self, Exchange: 9})
			if seen := s.lastSent(wander.KindSeen); seen.Nonce != 1 || seen.Exchange != 9 {
				t.Errorf("it saw a token %v ago", time.Duration(seen.Nonce))
			}
			s.wantState("running")
		})
	}
}

// A guardian that gets such an answer keeps its copy, and asks again, for as long as the run takes.
func TestNobodyRevivesWhileAMemberRuns(t *testing.T) {
	s := inGuardedFleet(t)
	s.keeps(born(1, 50))
	for range 20 {
		for len(s.sent) == 0 {
			s.advance(patience / 8)
		}
		asked := s.askedOf(1)
		answer := word(guardian.KindHeard, 1, guardian.TokenOf(&asked))
		answer.Exchange, answer.Nonce = asked.Exchange, 1
		s.receive(answer)
		s.sent = nil
	}
	s.wantState("absent")
	s.notes = nil
	s.advance(4 * patience)
	s.wantNotes(guardian.NoteSuspected, wander.NoteRevived, wander.NoteRan)
}

package measure

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/sim"
)

func came() sim.Occurrence { return sim.Occurrence{Kind: sim.Came} }

// tokens checks the accounts after 30 s, where these scenarios end.
func (s *scenario) tokens(alive int, want Tokens[Number]) {
	s.t.Helper()
	got := s.meter.Figures(at(30)).Tokens
	if s.meter.custody.alive != alive {
		s.t.Errorf("%d tokens are alive, want %d", s.meter.custody.alive, alive)
	}
	if !cmp.Equal(got, want) {
		s.t.Errorf("tokens %+v, want %+v", got, want)
	}
}

func TestATokenInAHandoffIsAlive(t *testing.T) {
	s := tell(t, Config{Members: 2})
	s.hands(10, 0, policy.CauseMade, 1)
	s.pass(20, 0, 1, 1)
	s.arrive(25, 0, 1, 1)
	if f := s.meter.Figures(at(30)); f.Hops != 1 || f.Messages != 1 {
		t.Errorf("%v hops, %v messages, want one of each", f.Hops, f.Messages)
	}
	s.tokens(1, Tokens[Number]{Generated: 1, Live: Table[Number]{{0, 10}, {1, 20}}})
}

func TestATokenIsLostWhenTheReceiverWaitsNoLonger(t *testing.T) {
	s := tell(t, Config{Members: 2})
	s.hands(10, 0, policy.CauseMade, 1)
	s.pass(20, 0, 1, 1)
	s.waitsNoLonger(21, 1)
	s.tokens(0, Tokens[Number]{Generated: 1, Lost: 1, Live: Table[Number]{{0, 19}, {1, 11}}})
}

func TestATokenIsAliveAsLongAsTheReceiverWaits(t *testing.T) {
	s := tell(t, Config{Members: 3})
	s.hands(10, 0, policy.CauseMade, 1)
	s.pass(20, 0, 1, 1)
	s.step(21, 1, policy.Event{Kind: policy.Woke})
	s.over[s.handoff] = true
	s.step(21, 2, policy.Event{Kind: policy.Woke})
	s.tokens(1, Tokens[Number]{Generated: 1, Live: Table[Number]{{0, 10}, {1, 20}}})
}

func TestATokenIsLostWithItsHolder(t *testing.T) {
	s := tell(t, Config{Members: 2})
	s.hands(10, 0, policy.CauseMade, 1)
	s.crash(20, 0)
	s.occur(25, 0, came())
	s.hands(26, 0, policy.CauseMade, 2)
	s.tokens(1, Tokens[Number]{Generated: 2, Lost: 1, Live: Table[Number]{{0, 16}, {1, 14}}})
}

func TestATokenIsLostWithItsReceiver(t *testing.T) {
	s := tell(t, Config{Members: 3})
	s.hands(10, 0, policy.CauseMade, 1)
	s.pass(20, 0, 1, 1)
	s.crash(21, 2)
	s.crash(22, 1)
	s.tokens(0, Tokens[Number]{Generated: 1, Lost: 1, Live: Table[Number]{{0, 18}, {1, 12}}})
}

func TestATokenPassedToNobodyIsLostAtOnce(t *testing.T) {
	s := tell(t, Config{Members: 2})
	s.hands(10, 0, policy.CauseMade, 1)
	s.crash(15, 1)
	s.pass(20, 0, 1, 1)
	s.tokens(0, Tokens[Number]{Generated: 1, Lost: 1, Live: Table[Number]{{0, 20}, {1, 10}}})
}

func TestATokenOutlivesASenderThatCrashesAfterItsCommit(t *testing.T) {
	s := tell(t, Config{Members: 2})
	s.hands(10, 0, policy.CauseMade, 1)
	s.pass(20, 0, 1, 1)
	s.crash(20, 0)
	s.arrive(21, 0, 1, 1)
	s.tokens(1, Tokens[Number]{Generated: 1, Live: Table[Number]{{0, 10}, {1, 20}}})
}

func TestATokenIsLostWithASenderThatCrashesBeforeItsCommit(t *testing.T) {
	s := tell(t, Config{Members: 2})
	s.hands(10, 0, policy.CauseMade, 1)
	ack := s.received(handoff.KindAck, 1, 0, 1)
	s.occur(20, 0, sim.Occurrence{
		Kind: sim.Stepped, Event: &ack, Of: 2,
		Effects: []policy.Effect{changing(policy.CausePassed, member(1), token(1))},
	})
	s.crash(20, 0)
	s.tokens(0, Tokens[Number]{Generated: 1, Lost: 1, Live: Table[Number]{{0, 20}, {1, 10}}})
}

func TestATokenIsLostWhoseCommitIsRefused(t *testing.T) {
	for name, refuse := range map[string]func(*scenario){
		"by the machine": func(s *scenario) {
			s.step(22, 1, s.received(handoff.KindCommit, 0, 1, 1))
		},
		"by the shell": func(s *scenario) {
			commit := s.received(handoff.KindCommit, 0, 1, 1).Msg
			s.occur(22, 1, sim.Occurrence{Kind: sim.Ignored, Msg: &commit})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := tell(t, Config{Members: 2})
			s.hands(10, 0, policy.CauseMade, 1)
			s.pass(20, 0, 1, 1)
			s.over[s.handoff] = true
			refuse(s)
			s.tokens(0, Tokens[Number]{Generated: 1, Lost: 1, Live: Table[Number]{{0, 18}, {1, 12}}})
		})
	}
}

func TestALateCopyOfACommitThatWasTakenLosesNothing(t *testing.T) {
	s := tell(t, Config{Members: 2})
	s.hands(10, 0, policy.CauseMade, 1)
	s.pass(20, 0, 1, 1)
	s.arrive(21, 0, 1, 1)
	s.step(22, 1, s.received(handoff.KindCommit, 0, 1, 1))
	s.tokens(1, Tokens[Number]{Generated: 1, Live: Table[Number]{{0, 10}, {1, 20}}})
}

func TestATokenGivenUpByASleeperIsLost(t *testing.T) {
	s := tell(t, Config{Members: 1})
	s.hands(10, 0, policy.CauseMade, 1)
	s.hands(20, 0, policy.CauseAsleep, 1)
	s.tokens(0, Tokens[Number]{Generated: 1, Lost: 1, Live: Table[Number]{{0, 20}, {1, 10}}})
}

func TestARemovedTokenIsNotLost(t *testing.T) {
	s := tell(t, Config{Members: 3})
	s.hands(10, 0, policy.CauseMade, 1)
	s.hands(10, 1, policy.CauseMade, 2)
	s.hands(10, 2, policy.CauseMade, 3)
	s.pass(11, 1, 0, 2)
	s.arrive(12, 1, 0, 2, policy.CauseMet)
	s.pass(13, 2, 1, 3)
	s.arrive(14, 2, 1, 3, policy.CauseRemoved)
	s.crash(20, 1)
	s.tokens(1, Tokens[Number]{
		Generated: 3, Removed: 2, Live: Table[Number]{{0, 10}, {1, 16}, {2, 2}, {3, 2}},
	})
}

func TestAHandoffThatNobodyEndsIsNotBelievedInForEver(t *testing.T) {
	s := tell(t, Config{Members: 2, Quiet: 1800e9})
	s.hands(0, 0, policy.CauseMade, 1)
	s.pass(10, 0, 1, 1)
	s.hands(1810, 0, policy.CauseMade, 2)
	if alive := s.meter.custody.alive; alive != 2 {
		t.Errorf("after Δmax %d are alive, want both", alive)
	}
	s.hands(1811, 0, policy.CauseMade, 3)
	if alive := s.meter.custody.alive; alive != 2 {
		t.Errorf("after more than Δmax %d are alive, want the two new ones", alive)
	}
}

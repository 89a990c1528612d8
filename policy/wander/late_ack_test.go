package wander_test

import (
	"slices"
	"testing"

	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// The Commit was lost, and the receiver repeats its Ack. It has heard nothing of the revival, and would be a second
// holder.
func TestAMemberThatRevivedATokenCommitsNoEarlierOffer(t *testing.T) {
	s := inGuardedFleet(t)
	s.arrive(guardedBy(born(1, 10), 5, 4), 5)
	s.finish()
	s.ack()
	commit := slices.IndexFunc(s.sent, func(m wire.Message) bool { return m.Kind == handoff.KindCommit })
	again := handoff.Reply(&s.sent[commit], handoff.KindAck, s.sent[commit].Nonce)
	s.sent = nil
	s.receive(again)
	s.wantTold(handoff.KindCommit, 1)
	s.advance(patience)
	s.answerAll()
	if s.m.Detail(s.now.Time).Token.Seq < 1<<32 {
		t.Fatal("it has not revived the token")
	}
	s.sent = nil
	s.receive(again)
	s.wantTold(handoff.KindCommit)
}

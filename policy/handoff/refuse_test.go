package handoff_test

import (
	"testing"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// asks returns ann's question about the token that she has offered: as far as she knows, bob holds it.
func asks() wire.Message {
	token := theToken
	token.Seq = token.Seq.After()
	return wire.Message{Gate: gate, Kind: guardian.KindAsk, From: annsID, To: bobsID, Exchange: 99, Token: token}
}

func (p *pair) refuse(ask wire.Message) {
	p.t.Helper()
	for _, e := range p.bob.h.Refuse(&ask, nil) {
		p.bob.notes = append(p.bob.notes, e.Note)
	}
}

// bob ignores a Commit in flight, and a repeated Token after it, because ann is about to hold the token again.
func TestAReceiverGivesUpWhenTheSenderLooksForTheToken(t *testing.T) {
	p := newPair(t)
	p.offer()
	token := p.deliver(handoff.KindToken)
	p.deliver(handoff.KindAck)
	p.refuse(asks())
	p.wantNotes(p.bob, handoff.NoteNoCommit)
	p.deliver(handoff.KindCommit)
	p.receive(token)
	p.wantNotes(p.bob, handoff.NoteStrayCommit, handoff.NoteTokenAgain)
	p.wantHolder("nobody")
	p.wantInTheAir("")
	p.wantBothOut()
}

// Only the sender of the offer can report that the token is lost in this handoff, and only for the copy that it
// offered.
func TestAReceiverDoesNotGiveUpForAnythingElse(t *testing.T) {
	for name, change := range map[string]func(ask *wire.Message){
		"from somebody else":    func(ask *wire.Message) { ask.From = thiefID },
		"about another token":   func(ask *wire.Message) { ask.Token.ID.Random++ },
		"from before the offer": func(ask *wire.Message) { ask.Token.Seq = theToken.Seq },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t)
			p.offer()
			p.deliver(handoff.KindToken)
			p.deliver(handoff.KindAck)
			ask := asks()
			change(&ask)
			p.refuse(ask)
			p.wantNotes(p.bob)
			p.deliver(handoff.KindCommit)
			p.wantHolder("bob")
		})
	}
}

// The receiver gives up only the handoff of this token: others may be in a handoff to it.
func TestAReceiverGivesUpOneHandoffOnly(t *testing.T) {
	p := newPair(t)
	p.receive(offerFrom(1))
	p.offer()
	p.deliver(handoff.KindToken)
	p.refuse(asks())
	p.wantNotes(p.bob, handoff.NoteNoCommit)
	if !p.bob.h.Receiving() {
		t.Error("bob has left the other handoff, too")
	}
}

func TestAMemberWithoutAHandoffHasNothingToGiveUp(t *testing.T) {
	p := newPair(t)
	before := p.bob.h
	p.refuse(asks())
	p.wantNotes(p.bob)
	if p.bob.h != before {
		t.Error("the question changed something")
	}
}

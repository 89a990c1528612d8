package handoff_test

import (
	"testing"

	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

func TestAReplyHasTheSameFieldsButNoGeneratorAndNoLoad(t *testing.T) {
	offer := offerFrom(1)
	offer.Load[3] = 4
	before := offer
	want := wire.Message{
		Gate: offer.Gate, Kind: handoff.KindAck, From: offer.To, To: offer.From, Exchange: offer.Exchange, Nonce: 7,
		Token: offer.Token,
	}
	want.Token.ID.Generator = wire.MemberID{}
	if got := handoff.Reply(&offer, handoff.KindAck, 7); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if offer != before {
		t.Error("the reply changed what it answers")
	}
}

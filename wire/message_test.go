package wire

import "testing"

// "The acknowledgement and the commitment contain the same fields, but the generator field is set to a distinguished NULL
// value" (Ciuffoletti, section 4).
func TestAReplyGoesBackWithTheSameFieldsButNoGeneratorAndNoRoute(t *testing.T) {
	offer := token()
	got := offer.Reply(KindAck, 7)
	want := offer
	want.Kind, want.Nonce = KindAck, 7
	want.From, want.To = offer.To, offer.From
	want.Token.ID.Generator = MemberID{}
	want.Token.Route = Route{}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if offer != token() {
		t.Error("the reply changed what it answers")
	}
}

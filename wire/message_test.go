package wire

import "testing"

// "The acknowledgement and the commitment contain the same fields, but the generator field is set to a distinguished NULL
// value" (Ciuffoletti, section 4).
func TestAReplyHasTheSameFieldsButNoGeneratorAndNoLoad(t *testing.T) {
	offer := token()
	got := offer.Reply(kindAck, 7)
	want := offer
	want.Kind, want.Nonce = kindAck, 7
	want.Protocol, want.Version = 0, 0 // the shell's
	want.From, want.To = offer.To, offer.From
	want.Token.ID.Generator = MemberID{}
	want.Load = Load{}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if offer != token() {
		t.Error("the reply changed what it answers")
	}
}

package wire

import (
	"regexp"
	"testing"
)

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

func TestEveryKindHasAUniqueName(t *testing.T) {
	word := regexp.MustCompile(`^[A-Z][a-z]+$`)
	seen := map[string]Kind{}
	for _, kind := range Kinds() {
		name := kind.String()
		if !word.MatchString(name) {
			t.Errorf("kind %d has the name %q", uint8(kind), name)
		}
		if other, taken := seen[name]; taken {
			t.Errorf("kinds %d and %d are both called %q", uint8(kind), uint8(other), name)
		}
		seen[name] = kind
	}
	if first, last := Kinds()[0], Kinds()[len(Kinds())-1]; first != KindToken || last != KindYield {
		t.Errorf("the list goes from %v to %v", first, last)
	}
	if _, listed := seen[Kind(0).String()]; listed {
		t.Error("what is no kind has the name of one")
	}
}

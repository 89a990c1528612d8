package policy

import "github.com/wanderd/wanderd/wire"

// Part is what a kind of message does for a token's custody: as much as checks and faults that go for all protocols
// need to know.
type Part uint8

const (
	// NoPart: nothing.
	NoPart Part = iota
	// Offers: its sender holds the token, and would pass it to the addressee.
	Offers
	// Accepts: its sender answers an offer.
	Accepts
	// Passes: its sender has given the token up for the addressee.
	Passes
	// Asks: its sender asks who holds a token.
	Asks
	// Tells: its sender tells of a token that stays where it is.
	Tells
)

// KindInfo is what is known of a kind of message.
type KindInfo struct {
	Kind wire.Kind
	// Name is the form used by metrics and traces: the paper's, where it has one.
	Name string
	Part Part
}

// Kinds are the kinds of message of one package, or of a protocol. Numbers 1 to 3 are a handoff's, 4 to 8 and 11 the
// guardians', 9 and 10 wander's, 32 to 39 a ballot's and 40 to 47 k-copies', in whatever protocol they are used; a
// protocol's own begin at 64.
type Kinds []KindInfo

// Of returns what is known of a kind. A kind that nobody knows has its number for a name.
func (k Kinds) Of(kind wire.Kind) KindInfo {
	for i := range k {
		if k[i].Kind == kind {
			return k[i]
		}
	}
	return KindInfo{Kind: kind, Name: kind.String()}
}

// Part returns what a kind of message does for a token's custody.
func (k Kinds) Part(kind wire.Kind) Part { return k.Of(kind).Part }

package policy

import "github.com/wanderd/wanderd/wire"

// Part is what a kind of message does for a token's custody, as far as checks and faults common to all protocols need
// to know.
type Part uint8

const (
	// NoPart: nothing.
	NoPart Part = iota
	// Offers: its sender holds the token and offers it to the addressee.
	Offers
	// Accepts: its sender answers an offer.
	Accepts
	// Passes: its sender has given the token up for the addressee.
	Passes
	// Asks: its sender asks which member holds a token.
	Asks
	// Tells: its sender tells of a token that stays where it is.
	Tells
)

// KindInfo describes a kind of message.
type KindInfo struct {
	Kind wire.Kind
	// Name is the name used by metrics and traces: the paper's, where the paper has one.
	Name string
	Part Part
}

// Kinds are the kinds of message of one package, or of a protocol. The same numbers are used in all protocols: 1 to 3
// for the handoff, 4 to 8, 11, 16 and 17 for the guardians, 9, 10 and 12 to 15 for wander, 32 to 39 for a ballot and 40
// to 47 for k-copies; a protocol's own numbers begin at 64.
type Kinds []KindInfo

// Of returns the description of a kind. An unknown kind has its number for a name.
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

package admission

import (
	"crypto/ed25519"
	"errors"
	"slices"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/wire"
)

// Everybody with the secret can seal anything. So each datagram of gossip is signed by its sender, and each side of a
// connection signs its frame. Where a key has to be trusted, memberlist sees only what a trusted member has signed:
// only a trusted member can call another one dead.
//
// A datagram's content:
//
//	 0 +------------+
//	   | sender  16 |
//	16 +------------+
//	   | sign.   64 |  of what follows
//	80 +------------+
//	   | packet     |
//	   +------------+
//
// The content of a frame begins with an introduction:
//
//	0 +------------------+
//	  | version        1 |
//	1 +------------------+
//	  | length         1 |
//	  | name             |
//	  +------------------+
//	  | public key    32 |
//	  +------------------+
//	  | length         2 |  0 without a certificate
//	  | certificate      |  in SSH's wire format
//	  +------------------+
//	  | signature     64 |  of the connection's nonces and what follows; one side's is not good for the other
//	  +------------------+
//
// Old signed gossip that is played back in a new seal, by a host with the secret, changes nothing: announcements have
// counters, and a statement about a member has an incarnation that the member has since exceeded.
const (
	SignedHeader  = len(wire.MemberID{}) + ed25519.SignatureSize
	PacketContext = "wanderd gossip packet v1"
	frameContext  = "wanderd gossip frame v1 "

	introductionVersion = 1
	// MaxCertificate bounds a certificate, in bytes.
	MaxCertificate = 8 << 10
)

// Introducer is this member as it introduces itself.
type Introducer struct {
	name string
	ID   wire.MemberID
	Key  ed25519.PrivateKey
	// certificate returns this member's certificate; nil if it has none.
	certificate func() []byte
}

// NewIntroducer introduces a member with this name and key; certificate returns nil if it has none.
func NewIntroducer(name string, key ed25519.PrivateKey, certificate func() []byte) *Introducer {
	return &Introducer{
		name: name, ID: wire.MemberIDOf(key.Public().(ed25519.PublicKey)), Key: key, certificate: certificate,
	}
}

// SignPacket returns the content of a datagram.
func (n *Introducer) SignPacket(packet []byte) []byte {
	b := make([]byte, 0, SignedHeader+len(packet))
	b = append(b, n.ID[:]...)
	b = append(b, identity.Sign(n.Key, packet, PacketContext)...)
	return append(b, packet...)
}

// SplitPacket splits the content of a datagram.
func SplitPacket(b []byte) (from wire.MemberID, signature, packet []byte, err error) {
	if len(b) <= SignedHeader {
		return from, nil, nil, packets.ErrMalformed
	}
	return wire.MemberID(b[:len(from)]), b[len(from):SignedHeader], b[SignedHeader:], nil
}

// Introduce returns the content of a frame of this side of a connection.
func (n *Introducer) Introduce(side string, nonces, message []byte) []byte {
	me := Shown{n.name, n.Key.Public().(ed25519.PublicKey), n.certificate()}
	b := me.Append([]byte{introductionVersion})
	b = append(b, identity.Sign(n.Key, slices.Concat(nonces, message), frameContext+side)...)
	return append(b, message...)
}

// Introduction is the other side of a connection as it has introduced itself. It refers to the frame's content.
type Introduction struct {
	Shown
	signature, Message []byte
}

var errNoIntroduction = errors.New("it does not introduce itself")

// ParseIntroduction reads the content of a frame. Nothing in it has been checked yet.
func ParseIntroduction(b []byte) (in Introduction, err error) {
	if len(b) == 0 || b[0] != introductionVersion {
		return in, errNoIntroduction
	}
	who, rest, ok := readShown(b[1:])
	if !ok || len(rest) < ed25519.SignatureSize {
		return in, errNoIntroduction
	}
	if len(who.Certificate) == 0 {
		who.Certificate = nil
	}
	in = Introduction{who, rest[:ed25519.SignatureSize:ed25519.SignatureSize], rest[ed25519.SignatureSize:]}
	return in, identity.CheckName(in.Name)
}

// Check returns why the other side of a connection is not trusted; nil if it is.
func (in *Introduction) Check(a *Admission, side string, nonces []byte) error {
	if a.trust == nil {
		return nil
	}
	if !identity.IsSigned(in.Key, slices.Concat(nonces, in.Message), in.signature, frameContext+side) {
		return identity.ErrForged
	}
	return a.Judge(in.Name, wire.MemberIDOf(in.Key), slices.Clone(in.Key), slices.Clone(in.Certificate))
}

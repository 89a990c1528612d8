package membership

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
// Old signed gossip that somebody with the secret plays back in a new seal changes nothing: announcements have
// counters, and a statement about a member has an incarnation that the member has since exceeded.
const (
	signedHeader  = len(wire.MemberID{}) + ed25519.SignatureSize
	packetContext = "wanderd gossip packet v1"
	frameContext  = "wanderd gossip frame v1 "

	introductionVersion = 1
	// maxCertificate bounds a certificate, in bytes.
	maxCertificate = 8 << 10
)

// introducer is this member as it introduces itself.
type introducer struct {
	name string
	id   wire.MemberID
	key  ed25519.PrivateKey
	// certificate returns this member's certificate, nil if it has none.
	certificate func() []byte
}

func newIntroducer(name string, key ed25519.PrivateKey, certificate func() []byte) *introducer {
	return &introducer{name: name, id: wire.MemberIDOf(key.Public().(ed25519.PublicKey)), key: key, certificate: certificate}
}

// signPacket returns the content of a datagram.
func (n *introducer) signPacket(packet []byte) []byte {
	b := make([]byte, 0, signedHeader+len(packet))
	b = append(b, n.id[:]...)
	b = append(b, identity.Sign(n.key, packet, packetContext)...)
	return append(b, packet...)
}

// splitPacket takes the content of a datagram apart.
func splitPacket(b []byte) (from wire.MemberID, signature, packet []byte, err error) {
	if len(b) <= signedHeader {
		return from, nil, nil, packets.ErrMalformed
	}
	return wire.MemberID(b[:len(from)]), b[len(from):signedHeader], b[signedHeader:], nil
}

// introduce returns the content of a frame of this side of a connection.
func (n *introducer) introduce(side string, nonces, message []byte) []byte {
	me := shown{n.name, n.key.Public().(ed25519.PublicKey), n.certificate()}
	b := me.append([]byte{introductionVersion})
	b = append(b, identity.Sign(n.key, slices.Concat(nonces, message), frameContext+side)...)
	return append(b, message...)
}

// introduction is the other side of a connection as it has introduced itself. It refers to the frame's content.
type introduction struct {
	shown
	signature, message []byte
}

var errNoIntroduction = errors.New("it does not introduce itself")

// parseIntroduction reads the content of a frame. Nothing in it has been checked yet.
func parseIntroduction(b []byte) (in introduction, err error) {
	if len(b) == 0 || b[0] != introductionVersion {
		return in, errNoIntroduction
	}
	who, rest, ok := readShown(b[1:])
	if !ok || len(rest) < ed25519.SignatureSize {
		return in, errNoIntroduction
	}
	if len(who.certificate) == 0 {
		who.certificate = nil
	}
	in = introduction{who, rest[:ed25519.SignatureSize:ed25519.SignatureSize], rest[ed25519.SignatureSize:]}
	return in, identity.CheckName(in.name)
}

// check returns why the other side of a connection is not trusted.
func (in *introduction) check(a *admission, side string, nonces []byte) error {
	if a.trust == nil {
		return nil
	}
	if !identity.IsSigned(in.key, slices.Concat(nonces, in.message), in.signature, frameContext+side) {
		return identity.ErrForged
	}
	return a.judge(in.name, wire.MemberIDOf(in.key), slices.Clone(in.key), slices.Clone(in.certificate))
}

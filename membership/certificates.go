package membership

import (
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// A question for certificates has its own kind of connection. Each side introduces itself, as for gossip, and only a
// trusted caller is answered. Behind its introduction the caller names members:
//
//	0 +---------------+
//	  | identity   16 |
//	  +---------------+
//	  | …             |
//
// The acceptor shows the certificates of the named members that it trusts. It adds others that it has admitted lately,
// because the caller will hear of them soon:
//
//	0 +---------------+
//	  | length      1 |
//	  | name          |
//	  +---------------+
//	  | public key 32 |
//	  +---------------+
//	  | length      2 |  not 0
//	  | certificate   |  in SSH's wire format
//	  +---------------+
//	  | …             |
//
// The caller checks each certificate as if its owner had shown it. So the acceptor can withhold a certificate, but do
// nothing else.
const (
	// maxShown is the longest list of certificates in an answer, in bytes: enough for a thousand Ed25519 keys.
	maxShown = 512 << 10
	// maxIntroduction is the longest introduction, in bytes.
	maxIntroduction = 2 + MaxName + ed25519.PublicKeySize + 2 + maxCertificate + ed25519.SignatureSize
	// lately is how long a member counts as admitted lately, maxLately how many of these an answer shows.
	lately    = 20 * time.Second
	maxLately = 64
)

var errNoCertificates = errors.New("it is no list of certificates")

func appendWanted(b []byte, ids []wire.MemberID) []byte {
	for _, id := range ids {
		b = append(b, id[:]...)
	}
	return b
}

func parseWanted(b []byte) (ids []wire.MemberID, err error) {
	const size = len(wire.MemberID{})
	if len(b)%size != 0 || len(b) > maxUnverified*size {
		return nil, errMalformed
	}
	for chunk := range slices.Chunk(b, size) {
		ids = append(ids, wire.MemberID(chunk))
	}
	return ids, nil
}

// shown is a member's name, key and certificate, as in an answer and in an introduction. It refers to the frame's
// content.
type shown struct {
	name        string
	key         ed25519.PublicKey
	certificate []byte
}

func (c *shown) size() int { return 1 + len(c.name) + len(c.key) + 2 + len(c.certificate) }

func (c *shown) append(b []byte) []byte {
	b = append(append(b, byte(len(c.name))), c.name...)
	b = append(b, c.key...)
	b = binary.BigEndian.AppendUint16(b, uint16(len(c.certificate)))
	return append(b, c.certificate...)
}

// readShown reads the beginning of b: a name, a key, and a certificate, which may be empty. Nothing in it has been
// checked yet.
func readShown(b []byte) (c shown, rest []byte, ok bool) {
	const key = ed25519.PublicKeySize
	if len(b) == 0 {
		return c, nil, false
	}
	name := 1 + int(b[0])
	if len(b) < name+key+2 {
		return c, nil, false
	}
	c.name, b = string(b[1:name]), b[name:]
	c.key, b = b[:key:key], b[key:]
	length := int(binary.BigEndian.Uint16(b))
	if b = b[2:]; length > len(b) || length > maxCertificate {
		return c, nil, false
	}
	c.certificate, b = b[:length:length], b[length:]
	return c, b, true
}

// parseShown reads an answer. Nothing in it has been checked yet.
func parseShown(b []byte) (list []shown, err error) {
	for len(b) > 0 {
		c, rest, ok := readShown(b)
		if !ok || len(c.certificate) == 0 || len(list) == maxUnverified+maxLately || validName(c.name) != nil {
			return nil, errNoCertificates
		}
		list, b = append(list, c), rest
	}
	return list, nil
}

// showCertificates answers the question that has come on g, one of each member at a time.
func (t *gossipTransport) showCertificates(g *guardedConn) error {
	wanted, err := parseWanted(g.unread)
	if err != nil {
		return err
	}
	if _, busy := t.showing.LoadOrStore(g.other, true); busy {
		return errBusy
	}
	defer t.showing.Delete(g.other)
	var answer []byte
	for _, c := range t.admission.certificates(wanted, time.Now().Add(-lately), maxLately) {
		if len(answer)+c.size() <= maxShown {
			answer = c.append(answer)
		}
	}
	_ = g.SetDeadline(time.Now().Add(answerTime))
	_, _ = g.Write(answer) // a caller that has gone needs no answer
	return nil
}

// askCertificates asks the member at addr for the certificates of unverified members, and returns how many were good.
// The members are then heard.
func (t *gossipTransport) askCertificates(addr netip.AddrPort, wanted map[wire.MemberID]unverifiedMember, deadline time.Time) (good int, err error) {
	g, err := t.dial(addr, deadline, forCertificates)
	if err != nil {
		return 0, err
	}
	defer func() { _ = g.Close() }()
	if _, err := g.Write(appendWanted(nil, slices.Collect(maps.Keys(wanted)))); err != nil {
		return 0, err
	}
	g.most = maxIntroduction + maxShown
	if err := g.receive(); err != nil {
		return 0, err
	}
	list, err := parseShown(g.unread)
	if err != nil {
		return 0, err
	}
	for _, c := range list {
		id := wire.MemberIDOf(c.key)
		m, isWanted := wanted[id]
		isWanted = isWanted && m.name == c.name
		if !t.admission.vouch(c.name, id, slices.Clone(c.key), slices.Clone(c.certificate), isWanted) {
			continue
		}
		t.admitted(c.name, id)
		if isWanted {
			good++
		}
	}
	return good, nil
}

// hearOf remembers the members that a trusted member calls alive, if their certificates are missing.
func (t *gossipTransport) hearOf(from wire.MemberID, each func([]byte, func(*alive)), b []byte) {
	if t.admission.trust == nil {
		return
	}
	each(b, func(said *alive) { t.unverified.hear(t.admission, from, said, time.Now()) })
}

// admitted gives memberlist what was said of a member before its certificate was here.
func (t *gossipTransport) admitted(name string, id wire.MemberID) {
	if said, was := t.unverified.leave(name, id, time.Now()); was {
		t.enqueue(said.message(), t.advertise)
	}
}

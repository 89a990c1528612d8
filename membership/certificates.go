package membership

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/wanderd/wanderd/membership/packets"
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
	// lately is how long a member counts as admitted lately, maxLately how many of these an answer shows.
	lately = 20 * time.Second
)

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
func (t *gossipTransport) hearOf(from wire.MemberID, each func([]byte, func(*packets.Alive)), b []byte) {
	if !t.admission.checks() {
		return
	}
	each(b, func(said *packets.Alive) { t.unverified.hear(t.admission, from, said, time.Now()) })
}

// admitted gives memberlist what was said of a member before its certificate was here.
func (t *gossipTransport) admitted(name string, id wire.MemberID) {
	if said, was := t.unverified.leave(name, id, time.Now()); was {
		t.enqueue(said.Message(), t.advertise)
	}
}

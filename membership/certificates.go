package membership

import (
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/streams"
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
	// lately is how long a member counts as admitted lately; [admission.MaxLately] is how many of these an answer
	// shows.
	lately = 20 * time.Second
)

// showCertificates answers the question that has come on g; each member may ask one at a time.
func (t *gossipTransport) showCertificates(g *streams.Conn) error {
	wanted, err := admission.ParseWanted(g.Unread)
	if err != nil {
		return err
	}
	if _, busy := t.showing.LoadOrStore(g.Other, true); busy {
		return streams.ErrBusy
	}
	defer t.showing.Delete(g.Other)
	var answer []byte
	for _, c := range t.admission.Certificates(wanted, time.Now().Add(-lately), admission.MaxLately) {
		if len(answer)+c.Size() <= maxShown {
			answer = c.Append(answer)
		}
	}
	_ = g.SetDeadline(time.Now().Add(answerTime))
	_, _ = g.Write(answer) // a caller that has gone needs no answer
	return nil
}

// askCertificates asks the member at addr for the certificates of unverified members, and returns how many were good.
// Then it hands memberlist the statements about their owners.
func (t *gossipTransport) askCertificates(addr netip.AddrPort, wanted map[wire.MemberID]admission.UnverifiedMember,
	deadline time.Time,
) (good int, err error) {
	g, err := t.streams.Dial(addr, deadline, streams.ForCertificates)
	if err != nil {
		return 0, err
	}
	defer func() { _ = g.Close() }()
	if _, err := g.Write(admission.AppendWanted(nil, slices.Collect(maps.Keys(wanted)))); err != nil {
		return 0, err
	}
	g.Most = admission.MaxIntroduction + maxShown
	if err := g.Receive(); err != nil {
		return 0, err
	}
	list, err := admission.ParseShown(g.Unread)
	if err != nil {
		return 0, err
	}
	for _, c := range list {
		id := wire.MemberIDOf(c.Key)
		m, isWanted := wanted[id]
		isWanted = isWanted && m.Name == c.Name
		if !t.admission.Vouch(c.Name, id, slices.Clone(c.Key), slices.Clone(c.Certificate), isWanted) {
			continue
		}
		t.admitted(c.Name, id)
		if isWanted {
			good++
		}
	}
	return good, nil
}

// hearOf remembers the members that a trusted member calls alive, if their certificates are missing.
func (t *gossipTransport) hearOf(from wire.MemberID, each func([]byte, func(*packets.Alive)), b []byte) {
	if !t.admission.Checks() {
		return
	}
	each(b, func(said *packets.Alive) { t.unverified.Hear(t.admission, from, said, time.Now()) })
}

// admitted hands memberlist the statement about a member that came before its certificate.
func (t *gossipTransport) admitted(name string, id wire.MemberID) {
	if said, was := t.unverified.Leave(name, id, time.Now()); was {
		t.enqueue(said.Message(), t.advertise)
	}
}

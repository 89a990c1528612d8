package membership

import (
	"bytes"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

// FuzzGossip: a datagram of gossip reaches memberlist only if it can be read to the end, and of an outsider never where
// keys are trusted.
func FuzzGossip(f *testing.F) {
	packet := peertest.Compound(peertest.Pack(packets.PingMsg, "SeqNo", 7), peertest.Pack(packets.DeadMsg, "Node", "x"))
	f.Add(introducerOf(1).SignPacket(packet), false)
	f.Add(introducerOf(2).SignPacket(packet), true)
	f.Add([]byte(nil), true)
	open, trusting := testTransport(f, nil), testTransport(f, &peertest.Book{Known: []int{1}})
	src := netip.MustParseAddrPort("10.0.0.1:1")
	f.Fuzz(func(t *testing.T, b []byte, trusts bool) {
		tr := open
		if trusts {
			tr = trusting
		}
		if !tr.deliver(b, src) {
			return
		}
		got := <-tr.packetCh
		if trusts && !bytes.Equal(b, introducerOf(1).SignPacket(got.Buf)) {
			t.Errorf("%x of an outsider is heard", b)
		}
	})
}

func testTransport(t testing.TB, trust Trust) *gossipTransport {
	t.Helper()
	seal := newSeal(nil)
	tr := &gossipTransport{
		seal: seal, admission: admission.New(trust), unverified: admission.NewUnverified(wire.MemberID{}), cfg: &Config{Admit: func(netip.Addr) bool { return true }},
		packetCh: make(chan *memberlist.Packet, 1), closed: t.Context(), bySecond: make(map[wire.MemberID]struct{}),
	}
	return tr
}

// FuzzPreamble: whatever a caller says first, it gets no more bytes than it has sent, and no place without the proof.
func FuzzPreamble(f *testing.F) {
	f.Add([]byte(string(forGossip) + string(make([]byte, callerNonce+proofSize))))
	f.Add([]byte(string(forQuestion) + string(make([]byte, callerNonce))))
	f.Add([]byte(string(forCertificates) + string(make([]byte, callerNonce+proofSize))))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	seal := newTestSeal(f, secretOne)
	f.Fuzz(func(t *testing.T, said []byte) {
		conn := &monologue{in: bytes.NewReader(said)}
		g := &guardedConn{Conn: conn, end: newEndpoint(endpointConfig{seal: seal, me: introducerOf(1), admission: admission.New(nil)})}
		if err := g.answerCall(); err == nil {
			t.Errorf("%x has proved the secret", said)
		}
		if conn.out > len(said) {
			t.Errorf("%d bytes for %d", conn.out, len(said))
		}
	})
}

// monologue is a connection on which all has been said.
type monologue struct {
	net.Conn
	in  *bytes.Reader
	out int
}

func (c *monologue) Read(b []byte) (int, error) { return c.in.Read(b) }

func (c *monologue) Write(b []byte) (int, error) {
	c.out += len(b)
	return len(b), nil
}

func (c *monologue) SetDeadline(time.Time) error { return nil }

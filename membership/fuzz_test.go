package membership

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/hashicorp/memberlist"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/membership/streams"
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
	seal := streams.NewSeal(nil)
	tr := &gossipTransport{
		seal: seal, admission: admission.New(trust), unverified: admission.NewUnverified(wire.MemberID{}),
		cfg:      &Config{Admit: func(netip.Addr) bool { return true }},
		packetCh: make(chan *memberlist.Packet, 1), closed: t.Context(), bySecond: make(map[wire.MemberID]struct{}),
	}
	return tr
}

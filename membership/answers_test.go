package membership

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/wanderd/wanderd/membership/peertest"
)

func TestAnAnswerInTheClearIsNoLongerThanThePingAndGoesBack(t *testing.T) {
	from, third := netip.MustParseAddrPort("10.0.0.1:1"), netip.MustParseAddrPort("10.0.0.3:3")
	ack, gossip := peertest.Pack(ackRespMsg, "SeqNo", 7, "Payload", make([]byte, 8)), peertest.Pack(deadMsg, "Node", "x")
	with := peertest.Compound(ack, gossip)
	for _, c := range []struct {
		what     string
		ping     ping
		packet   []byte
		to       netip.AddrPort
		want     []byte
		wantedTo netip.AddrPort
	}{
		{"a ping that names nobody", ping{seq: 7, size: 100}, ack, from, ack, from},
		{"a ping that names a third address", ping{seq: 7, size: 100, to: third}, ack, third, ack, from},
		{"gossip on top", ping{seq: 7, size: len(with)}, with, from, with, from},
		{"gossip that is too long", ping{seq: 7, size: len(with) - 1}, with, from, ack, from},
		{"a short ping", ping{seq: 7, size: len(ack) - 1}, ack, from, nil, from},
		{"another number", ping{seq: 8, size: 100}, ack, from, nil, from},
		{"another address", ping{seq: 7, size: 100, to: third}, ack, from, nil, from},
		{"no answer at all", ping{seq: 7, size: 1}, gossip, third, gossip, third},
	} {
		a := new(answers)
		a.owe(c.ping, from)
		got, to := a.send(c.packet, c.to)
		if !bytes.Equal(got, c.want) || got != nil && to != c.wantedTo {
			t.Errorf("%s: %x to %s", c.what, got, to)
		}
		if got, _ := a.send(c.packet, c.to); got != nil && c.packet[0] != deadMsg {
			t.Errorf("%s: answered twice", c.what)
		}
	}
}

func TestEveryPingThatWaitsIsAnswered(t *testing.T) {
	a, from := new(answers), netip.MustParseAddrPort("10.0.0.1:1")
	for i := range packetQueue + 1 {
		a.owe(ping{seq: uint64(i % 100), size: 100}, from)
	}
	for i := range packetQueue + 1 {
		if got, _ := a.send(peertest.Pack(ackRespMsg, "SeqNo", i%100), from); got == nil {
			t.Fatalf("ping %d is not answered", i)
		}
	}
}

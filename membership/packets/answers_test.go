package packets

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/wanderd/wanderd/membership/peertest"
)

func TestAnAnswerInTheClearIsNoLongerThanThePingAndGoesBack(t *testing.T) {
	from, third := netip.MustParseAddrPort("10.0.0.1:1"), netip.MustParseAddrPort("10.0.0.3:3")
	ack, gossip := peertest.Pack(AckRespMsg, "SeqNo", 7, "Payload", make([]byte, 8)),
		peertest.Pack(DeadMsg, "Node", "x")
	with := peertest.Compound(ack, gossip)
	for _, c := range []struct {
		what     string
		ping     Ping
		packet   []byte
		to       netip.AddrPort
		want     []byte
		wantedTo netip.AddrPort
	}{
		{"a ping that names nobody", Ping{seq: 7, Size: 100}, ack, from, ack, from},
		{"a ping that names a third address", Ping{seq: 7, Size: 100, to: third}, ack, third, ack, from},
		{"gossip on top", Ping{seq: 7, Size: len(with)}, with, from, with, from},
		{"gossip that is too long", Ping{seq: 7, Size: len(with) - 1}, with, from, ack, from},
		{"a short ping", Ping{seq: 7, Size: len(ack) - 1}, ack, from, nil, from},
		{"another number", Ping{seq: 8, Size: 100}, ack, from, nil, from},
		{"another address", Ping{seq: 7, Size: 100, to: third}, ack, from, nil, from},
		{"no answer at all", Ping{seq: 7, Size: 1}, gossip, third, gossip, third},
	} {
		a := new(Answers)
		a.Owe(c.ping, from)
		got, to := a.Send(c.packet, c.to)
		if !bytes.Equal(got, c.want) || got != nil && to != c.wantedTo {
			t.Errorf("%s: %x to %s", c.what, got, to)
		}
		if got, _ := a.Send(c.packet, c.to); got != nil && c.packet[0] != DeadMsg {
			t.Errorf("%s: answered twice", c.what)
		}
	}
}

func TestEveryPingThatWaitsIsAnswered(t *testing.T) {
	a, from := new(Answers), netip.MustParseAddrPort("10.0.0.1:1")
	for i := range QueueSize + 1 {
		a.Owe(Ping{seq: uint64(i % 100), Size: 100}, from)
	}
	for i := range QueueSize + 1 {
		if got, _ := a.Send(peertest.Pack(AckRespMsg, "SeqNo", i%100), from); got == nil {
			t.Fatalf("ping %d is not answered", i)
		}
	}
}

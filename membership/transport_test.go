package membership

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/peertest"
)

func TestDeliverNeverBlocksAndCountsTheOverflow(t *testing.T) {
	// Nobody reads.
	tr := &gossipTransport{
		seal: newTestSeal(t, secretOne), packetCh: make(chan *memberlist.Packet, 4), closed: t.Context(),
		admission: admission.New(nil),
	}
	plain := peertest.Pack(packets.PingMsg, "SeqNo", 7)
	packet := peertest.SealPacket(t, secretOne, 1, introducerOf(1).SignPacket(plain))
	for range 10 {
		tr.deliver(packet, peertest.AddrOf(1))
	}
	if tr.overflow.Load() != 6 || len(tr.packetCh) != 4 {
		t.Errorf("%d are queued, %d counted", len(tr.packetCh), tr.overflow.Load())
	}
	packet[0] = 0 // the agent uses its buffer again
	got := <-tr.packetCh
	if !bytes.Equal(got.Buf, plain) || got.From.String() != "10.0.0.1:7946" || time.Since(got.Timestamp) > time.Minute {
		t.Errorf("queued %+v", got)
	}
}

func TestJunkDoesNotDisturbTheFleet(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(3)
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		rng := rand.New(rand.NewPCG(1, 2))
		junk := make([]byte, 1500)
		for i := range 20000 {
			for j := range junk {
				junk[j] = byte(rng.Uint32())
			}
			junk[0] = byte(i % 3) // as often as not it looks sealed
			hosts[0].Deliver(junk[:rng.IntN(len(junk))], peertest.AddrOf(9))
		}
		f.always(30*time.Second, "the fleet goes on", allSee(hosts, 1, 2, 3))
		if n := len(hosts[0].logs.With("warn")); n != 1 {
			t.Errorf("warned %d times: %s", n, hosts[0].logs.With("warn"))
		}
		if s := hosts[0].Stats(); s.Malformed+s.Foreign != 20000 {
			t.Errorf("counted %+v", s)
		}
	})
}

func TestFailureToSendIsAnErrorThatDoesNotAbortAProbe(t *testing.T) {
	noRoute := func([]byte, netip.AddrPort) error { return errors.New("no route") }
	tr := &gossipTransport{
		cfg: &Config{Send: noRoute}, me: introducerOf(1), seal: newTestSeal(t, nil), closed: t.Context(),
	}
	for _, to := range []string{"10.0.0.1:7946", "<nil>:0"} {
		_, err := tr.WriteTo([]byte("x"), to)
		var op *net.OpError
		if !errors.As(err, &op) || op.Net != "udp" || op.Op != "write" {
			t.Errorf("%s: %v", to, err)
		}
	}
}

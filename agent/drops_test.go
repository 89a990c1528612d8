package agent

import (
	"bytes"
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// The members of a gate must have one protocol, in one version. A message of another one is dropped, even if it is
// signed, and the log names both.
func TestAMessageOfAnotherProtocolIsDroppedAndTheLogNamesBoth(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.startAll()
		time.Sleep(time.Minute)
		a, b := w.agents["a"], w.agents["b"]
		for _, foreign := range []func(m *wire.Message){
			func(m *wire.Message) { m.Protocol++ }, func(m *wire.Message) { m.Version++ },
		} {
			m := wire.Message{
				Gate: wire.GateIDOf(w.gate.Name), Kind: handoff.KindToken, From: a.self, To: b.self, Exchange: 1,
				Token: wire.Ref{ID: wire.TokenID{Birth: 1, Generator: a.self}, Seq: 1},
			}
			descriptor := w.gate.Settings.Descriptor()
			descriptor.Stamp(&m)
			foreign(&m)
			if err := a.endpoint.Packets.WriteTo(a.credentials.codec.Load().
				Append(nil, &m), netip.Addr{}, b.addr); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		s, err := source{b.Agent}.Status(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if n := s.Dropped[wire.DropProtocol.String()]; n != 2 {
			t.Errorf("dropped for their protocol: %d, want 2", n)
		}
	})

	var log bytes.Buffer
	d := newDrops(zerolog.New(&log))
	d.addForeign(&wire.Message{Protocol: 2, Version: 7}, &policy.Descriptor{ID: 1, Name: "wander", Version: 1},
		netip.AddrPort{})
	for _, want := range []string{"ring, version 7", "wander, version 1"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("%q is not in %s", want, log.String())
		}
	}
}

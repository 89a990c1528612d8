package broadcast

import (
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

var gateA, gateB = wire.GateIDOf("a"), wire.GateIDOf("b")

// paused returns a directive of host i to gate a.
func paused(i int, stamp uint64) Broadcast {
	return Broadcast{
		Gate: gateA, Directive: wire.Directive{
			Stamp: stamp, By: wire.MemberIDOf(peertest.KeyOf(i)), Until: wire.ForEver,
		},
		Who: fmt.Sprintf("alice@host%d", i), Reason: "ticket 4711",
	}
}

// signedBy returns a broadcast as host i sends it.
func signedBy(i int, n Broadcast) *Signed {
	s := &Signed{Broadcast: n, name: fmt.Sprintf("host%d", i), key: peertest.KeyOf(i)}
	s.sign(peertest.PrivateOf(i))
	return s
}

func TestABroadcastRoundTrips(t *testing.T) {
	for name, n := range map[string]Broadcast{
		"with all texts": paused(1, 7),
		"with none":      {Gate: gateA, Directive: paused(1, 7).Directive},
		"the longest": {
			Gate: gateA, Directive: paused(1, 7).Directive, Who: strings.Repeat("w", MaxWho),
			Reason: strings.Repeat("r", MaxReason),
		},
	} {
		want := signedBy(1, n)
		got, err := Parse(want.packed)
		if err != nil || got.Broadcast != n || got.name != "host1" || !got.vouched() || !got.own() {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if len(want.packed) > maxSize {
			t.Errorf("%s has %d bytes", name, len(want.packed))
		}
	}
}

func TestADamagedBroadcastIsNotKept(t *testing.T) {
	good := signedBy(1, paused(1, 7)).packed
	for at := range good {
		bad := slices.Clone(good)
		bad[at] ^= 1
		if n, err := Parse(bad); err == nil && n.vouched() {
			t.Errorf("with byte %d changed it is vouched for", at)
		}
		if _, err := Parse(good[:at]); err == nil {
			if n, _ := Parse(good[:at]); n.vouched() {
				t.Errorf("the first %d bytes are vouched for", at)
			}
		}
	}
}

func trustAll(string, wire.MemberID, ed25519.PublicKey, []byte) error { return nil }

func TestTheNewerBroadcastIsKeptAndTheGiversOwn(t *testing.T) {
	k := NewStore([]wire.GateID{gateA}, trustAll, func() int { return 1 }, make(chan struct{}, 1))
	kept := func() Broadcast { return k.All()[0] }
	witness := Broadcast{Gate: gateA, Directive: paused(1, 7).Directive}
	for _, step := range []struct {
		what string
		hear *Signed
		want Broadcast
	}{
		{"the first", signedBy(2, witness), witness},
		{"the giver's own", signedBy(1, paused(1, 7)), paused(1, 7)},
		{"a witness's, again", signedBy(3, witness), paused(1, 7)},
		{"an older one", signedBy(2, paused(2, 6)), paused(1, 7)},
		{"a newer one", signedBy(2, paused(2, 8)), paused(2, 8)},
		{"of another gate", signedBy(2, Broadcast{Gate: gateB, Directive: paused(2, 9).Directive}), paused(2, 8)},
	} {
		if k.Hear(step.hear.packed); kept() != step.want || len(k.All()) != 1 {
			t.Errorf("%s: %+v, want %+v", step.what, kept(), step.want)
		}
	}
}

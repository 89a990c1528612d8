package plan

import (
	"crypto/ed25519"
	"math/rand/v2"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

func TestAllDatagramsHaveTheSizeThatIsPlannedWith(t *testing.T) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	codec, err := wire.NewCodec(key, rand.NewChaCha8([32]byte{}), wire.Secret{1})
	if err != nil {
		t.Fatal(err)
	}
	self, other := wire.MemberIDOf(key.Public().(ed25519.PublicKey)), wire.MemberID{1}
	token := wire.Message{
		Kind: handoff.KindToken, From: self, To: other, Token: wire.Ref{ID: wire.TokenID{Generator: self}, Seq: 7},
	}
	for _, kind := range wander.Kinds() {
		m := token
		if m.Kind = kind.Kind; kind.Part == policy.Accepts || kind.Part == policy.Passes {
			m = handoff.Reply(&token, kind.Kind, 5)
		}
		if got := len(codec.Append(nil, &m)); got != datagramSize() {
			t.Errorf("a %s has %d bytes, and %d are planned with", kind.Name, got, datagramSize())
		}
	}
}

func TestMembersShareTheTrafficOfTheFleet(t *testing.T) {
	got := trafficOf(400, 3)
	size := float64(datagramSize() + ipHeaders)
	if got.FleetDatagrams != 3 || got.MemberDatagrams != 3.0/400 || got.FleetBytes != 3*size ||
		got.MemberBytes != 3*size/400 {
		t.Errorf("%+v", got)
	}
}

// memberlist multiplies the interval of full syncs by one more than the logarithm above 32 members.
func TestGossipGrowsLessThanTheFleet(t *testing.T) {
	probes := gossipBytes(0)
	for members, seconds := range map[int]float64{10: 15, 32: 15, 33: 30, 64: 30, 400: 75, 10_000: 150} {
		want := probes + 2*syncBytesPerMember*float64(members)/seconds
		if got := gossipBytes(members); got < want-0.01 || got > want+0.01 {
			t.Errorf("%d members: %.1f bytes/s, want %.1f", members, got, want)
		}
	}
}

package peers

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

const counter = "0000000000000007"

const keyHex = "000102030405060708090a0b0c0d0e0f 101112131415161718191a1b1c1d1e1f"

func TestMetadataBytes(t *testing.T) {
	key := ed25519.PublicKey(unhex(t, keyHex))
	// The top 15 bits of a gate's identity; the last bit is set if a token was met.
	low, high := wire.GateID(0x1234_5678_9abc_def0), wire.GateID(0xfffe_0000_0000_0001)
	for _, c := range []struct {
		name, hex string
		meta      Metadata
	}{
		{"no gate", "02" + keyHex + counter, Metadata{Key: key, Counter: 7}},
		{"a gate", "02" + keyHex + counter + "1234", Metadata{
			Key: key, Counter: 7, Gates: []gateMark{{tag: tagOf(low)}},
		}},
		{"two gates, a token met", "02" + keyHex + counter + "1234 ffff", Metadata{
			Key: key, Counter: 7, Gates: []gateMark{{tag: tagOf(low)}, {tag: tagOf(high), met: true}},
		}},
		{
			"a roster", "03" + keyHex + counter + "1234 0000000000000000 fffe 00000000000000ff",
			Metadata{Key: key, Counter: 7, Gates: []gateMark{{tag: tagOf(low)}, {tag: tagOf(high), declared: 255}}},
		},
		{"leaving", "82" + keyHex + counter, Metadata{Key: key, Counter: 7, Leaving: true}},
	} {
		want := unhex(t, c.hex)
		if got := c.meta.appendUnsigned(nil); !bytes.Equal(got, want) {
			t.Errorf("%s: encoded as %x, want %x", c.name, got, want)
		}
		if got, err := ParseMetadata(append(want, make([]byte, ed25519.SignatureSize)...)); err != nil ||
			!reflect.DeepEqual(got, c.meta) {
			t.Errorf("%s: parsed as %+v, %v", c.name, got, err)
		}
	}
}

func TestMetadataThatIsNotOursIsRefused(t *testing.T) {
	signature := strings.Repeat("00", ed25519.SignatureSize)
	for name, text := range map[string]string{
		"nothing":            "",
		"the version before": "01" + keyHex + counter + signature,
		"short key":          "02 0001",
		"no signature":       "02" + keyHex + counter,
		"half a gate":        "02" + keyHex + counter + "12" + signature,
		"gates out of order": "02" + keyHex + counter + "2000 1000" + signature,
		"one gate twice":     "02" + keyHex + counter + "1000 1001" + signature,
		"too many gates":     "02" + keyHex + counter + strings.Repeat("1000", identity.MaxGates+1) + signature,
		"half a roster":      "03" + keyHex + counter + "1000 00000000" + signature,
		"no roster":          "03" + keyHex + counter + "1000 0000000000000000" + signature,
		"neither":            "03" + keyHex + counter + signature,
		"too many rosters": "03" + keyHex + counter + strings.Repeat("1000 0000000000000001", identity.MaxGates+1) +
			signature,
		"half a kilobyte":     "02" + keyHex + counter + strings.Repeat("00", 512),
		"somebody else's own": "82a4726f6c65a6636f6e73756c",
	} {
		if m, err := ParseMetadata(unhex(t, text)); err == nil {
			t.Errorf("%s: parsed as %+v", name, m)
		}
	}
}

func TestMetadataHasOneEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Mostly close to valid: a version, a key, and some gates.
		b := append([]byte{
			rapid.SampledFrom([]byte{2, 0x82, 3, 0x83, 4, 0x84, 0}).Draw(t, "first"),
		}, make([]byte, ed25519.PublicKeySize+8)...)
		b = append(b, rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "gates")...)
		m, err := ParseMetadata(append(bytes.Clone(b), make([]byte, ed25519.SignatureSize)...))
		if again := m.appendUnsigned(nil); err == nil && !bytes.Equal(again, b) {
			t.Fatalf("%x is parsed and encoded as %x", b, again)
		}
	})
}

func TestMetadataOfMostGatesStaysBelow200BytesAndWithRostersBelow400(t *testing.T) {
	var gates []wire.GateID
	for i := range identity.MaxGates {
		gates = append(gates, wire.GateID(i)<<49)
	}
	m, err := NewMetadata(peertest.KeyOf(1), gates)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(m.Encode(peertest.PrivateOf(1), identity.NodeName("x", wire.MemberIDOf(peertest.KeyOf(1))),
		peertest.AddrOf(1))); n >= 200 {
		t.Errorf("%d bytes", n)
	}
	for _, g := range gates {
		m.Declare(g, 1)
	}
	if n := len(m.Encode(peertest.PrivateOf(1), identity.NodeName("x", wire.MemberIDOf(peertest.KeyOf(1))),
		peertest.AddrOf(1))); n >= 400 {
		t.Errorf("%d bytes with rosters", n)
	}
}

// Where a member stands is in its metadata, and in that of a member that says nothing there is no byte for it.
func TestAMemberSaysWhereItStands(t *testing.T) {
	m, err := NewMetadata(peertest.KeyOf(1), []wire.GateID{gateA, gateB})
	if err != nil {
		t.Fatal(err)
	}
	m.Declare(gateA, 5)
	silent := len(m.appendUnsigned(nil))
	if m.Stand(wire.GateIDOf("another"), 1) || !m.Stand(gateB, 3) || m.Stand(gateB, 3) {
		t.Error("what is news is none, or the reverse")
	}
	b := append(m.appendUnsigned(nil), make([]byte, ed25519.SignatureSize)...)
	if read, err := ParseMetadata(b); err != nil || b[0] != standingVersion || !slices.Equal(read.Gates, m.Gates) {
		t.Errorf("%v: %v, %v", read, b, err)
	}
	who := Member{Gates: m.Gates}
	if who.Standing(gateB) != 3 || who.Standing(gateA) != 0 || who.Standing(wire.GateIDOf("another")) != 0 {
		t.Errorf("%v", m.Gates)
	}
	if m.Stand(gateB, 0); len(m.appendUnsigned(nil)) != silent {
		t.Error("a member that says nothing needs room for that")
	}
}

func TestAnnouncingAGateAgainIsNoNews(t *testing.T) {
	m, err := NewMetadata(peertest.KeyOf(1), []wire.GateID{gateA, gateB})
	if err != nil {
		t.Fatal(err)
	}
	shared := m.Gates
	switch {
	case !m.Announce(gateA):
		t.Error("the first time was no news")
	case m.Announce(gateA):
		t.Error("the second time was news")
	case m.Announce(wire.GateIDOf("another")):
		t.Error("a gate of somebody else was news")
	case shared[0].met || shared[1].met:
		t.Error("the announcement changed what views share")
	}
}

func TestDeclaringARosterAgainIsNoNews(t *testing.T) {
	m, err := NewMetadata(peertest.KeyOf(1), []wire.GateID{gateA, gateB})
	if err != nil {
		t.Fatal(err)
	}
	if m.Declare(wire.GateIDOf("another"), 1) {
		t.Error("a gate of somebody else was news")
	}
	if !m.Declare(gateA, 1) || m.Declare(gateA, 1) || !m.Declare(gateA, 2) || !m.Declare(gateB, 2) {
		t.Error("what is news is none, or the reverse")
	}
	shared := m.Gates
	m.Declare(gateA, 3)
	who := Member{Gates: shared}
	if who.Declared(gateA) != 2 || who.Declared(gateB) != 2 || who.Declared(wire.GateIDOf("another")) != 0 {
		t.Errorf("views share %v", shared)
	}
}

func TestNodeNameCarriesNameAndIdentity(t *testing.T) {
	id := wire.MemberIDOf(peertest.KeyOf(1))
	for _, name := range []string{"a", "web~1", "é日本", strings.Repeat("x", identity.MaxName)} {
		gotName, gotID, err := identity.ParseNodeName(identity.NodeName(name, id))
		if gotName != name || gotID != id || err != nil {
			t.Errorf("%q came back as %q, %v, %v", name, gotName, gotID, err)
		}
	}
	for _, bad := range []string{
		"", "consul-1", "a~", "a~1234", identity.NodeName("", id), identity.NodeName("a\nb", id),
		identity.NodeName("\x1b[2J", id), identity.NodeName("\xff", id),
		identity.NodeName(strings.Repeat("x", identity.MaxName+1), id), "a~" + strings.ToUpper(id.String()),
	} {
		if name, _, err := identity.ParseNodeName(bad); err == nil {
			t.Errorf("%q was taken for %q", bad, name)
		}
	}
}

func TestASignatureIsForOneNameAddressAndContent(t *testing.T) {
	node, addr := identity.NodeName("x", wire.MemberIDOf(peertest.KeyOf(1))), peertest.AddrOf(1)
	b := (&Metadata{Key: peertest.KeyOf(1), Counter: 7, Gates: []gateMark{{tag: tagOf(gateA)}}}).
		Encode(peertest.PrivateOf(1), node, addr)
	if !vouched(b, peertest.KeyOf(1), node, addr) {
		t.Fatal("the member's own signature")
	}
	if vouched(b, peertest.KeyOf(1), identity.NodeName("y", wire.MemberIDOf(peertest.KeyOf(1))), addr) ||
		vouched(b, peertest.KeyOf(1), node, peertest.AddrOf(2)) || vouched(b, peertest.KeyOf(2), node, addr) {
		t.Error("it holds for another name, address or key")
	}
	for i := range b {
		b[i] ^= 1
		if vouched(b, peertest.KeyOf(1), node, addr) {
			t.Errorf("byte %d may be changed", i)
		}
		b[i] ^= 1
	}
}

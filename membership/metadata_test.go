package membership

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

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

const keyHex = "000102030405060708090a0b0c0d0e0f 101112131415161718191a1b1c1d1e1f"

func TestMetadataBytes(t *testing.T) {
	key := ed25519.PublicKey(unhex(t, keyHex))
	// The top 15 bits of a gate's identity; the last bit is set if a token was met.
	low, high := wire.GateID(0x1234_5678_9abc_def0), wire.GateID(0xfffe_0000_0000_0001)
	for _, c := range []struct {
		name, hex string
		meta      metadata
	}{
		{"no gate", "01" + keyHex, metadata{key: key}},
		{"a gate", "01" + keyHex + "1234", metadata{key: key, gates: []gateMark{markOf(low)}}},
		{"two gates, a token met", "01" + keyHex + "1234 ffff", metadata{key: key, gates: []gateMark{markOf(low), markOf(high) | 1}}},
		{"leaving", "81" + keyHex, metadata{key: key, leaving: true}},
	} {
		want := unhex(t, c.hex)
		if got := c.meta.encode(); !bytes.Equal(got, want) {
			t.Errorf("%s: encoded as %x, want %x", c.name, got, want)
		}
		if got, err := parseMetadata(want); err != nil || !reflect.DeepEqual(got, c.meta) {
			t.Errorf("%s: parsed as %+v, %v", c.name, got, err)
		}
	}
}

func TestMetadataThatIsNotOursIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":             "",
		"another version":     "02" + keyHex,
		"short key":           "01 0001",
		"half a gate":         "01" + keyHex + "12",
		"gates out of order":  "01" + keyHex + "2000 1000",
		"one gate twice":      "01" + keyHex + "1000 1001",
		"too many gates":      "01" + keyHex + strings.Repeat("1000", MaxGates+1),
		"half a kilobyte":     "01" + keyHex + strings.Repeat("00", 512),
		"somebody else's own": "82a4726f6c65a6636f6e73756c",
	} {
		if m, err := parseMetadata(unhex(t, text)); err == nil {
			t.Errorf("%s: parsed as %+v", name, m)
		}
	}
}

func TestMetadataHasOneEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Mostly close to valid: a version, a key, and some gates.
		b := append([]byte{rapid.SampledFrom([]byte{1, 0x81, 0}).Draw(t, "first")}, make([]byte, ed25519.PublicKeySize)...)
		b = append(b, rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "gates")...)
		m, err := parseMetadata(b)
		if err == nil && !bytes.Equal(m.encode(), b) {
			t.Fatalf("%x is parsed and encoded as %x", b, m.encode())
		}
	})
}

func TestMetadataOfMostGatesStaysBelow64Bytes(t *testing.T) {
	var gates []wire.GateID
	for i := range MaxGates {
		gates = append(gates, wire.GateID(i)<<49)
	}
	m, err := newMetadata(keyOf(1), gates)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(m.encode()); n >= 64 {
		t.Errorf("%d bytes", n)
	}
}

func TestAnnouncingAGateAgainIsNoNews(t *testing.T) {
	m, err := newMetadata(keyOf(1), []wire.GateID{gateA, gateB})
	if err != nil {
		t.Fatal(err)
	}
	shared := m.gates
	switch {
	case !m.announce(gateA):
		t.Error("the first time was no news")
	case m.announce(gateA):
		t.Error("the second time was news")
	case m.announce(wire.GateIDOf("another")):
		t.Error("a gate of somebody else was news")
	case shared[0].met() || shared[1].met():
		t.Error("the announcement changed what views share")
	}
}

func TestNodeNameCarriesNameAndIdentity(t *testing.T) {
	id := wire.MemberIDOf(keyOf(1))
	for _, name := range []string{"a", "web~1", "é日本", strings.Repeat("x", MaxName)} {
		gotName, gotID, err := parseNodeName(nodeName(name, id))
		if gotName != name || gotID != id || err != nil {
			t.Errorf("%q came back as %q, %v, %v", name, gotName, gotID, err)
		}
	}
	for _, bad := range []string{
		"", "consul-1", "a~", "a~1234", nodeName("", id), nodeName("a\nb", id), nodeName("\x1b[2J", id), nodeName("\xff", id),
		nodeName(strings.Repeat("x", MaxName+1), id), "a~" + strings.ToUpper(id.String()),
	} {
		if name, _, err := parseNodeName(bad); err == nil {
			t.Errorf("%q was taken for %q", bad, name)
		}
	}
}

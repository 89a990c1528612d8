package packets

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/membership/peertest"
)

func TestThePacketFilterPassesWhatMembersSend(t *testing.T) {
	name := strings.Repeat("n", maxNode)
	ask := peertest.Pack(PingMsg, "SeqNo", 7, "Node", name, "SourceAddr", []byte{10, 0, 0, 2}, "SourcePort", 7946,
		"SourceNode", name)
	alive := peertest.Pack(AliveMsg, "Incarnation", 1, "Node", name, "Addr", []byte{10, 0, 0, 1}, "Port", 7946, "Meta",
		make([]byte, 63), "Vsn", make([]byte, 6))
	for _, clear := range []bool{true, false} {
		for what, packet := range map[string][]byte{
			"ping": ask, "ack": peertest.Pack(AckRespMsg, "SeqNo", 7, "Payload", make([]byte, 8)), "alive": alive,
			"dead":     peertest.Pack(DeadMsg, "Incarnation", 1, "Node", name, "From", name),
			"compound": peertest.Compound(ask, alive), "nack": peertest.Pack(NackRespMsg, "SeqNo", 7),
			"checksum": append([]byte{HasCrcMsg, 1, 2, 3, 4}, peertest.Compound(alive, alive)...),
		} {
			p, err := Filter(packet, clear)
			if err != nil || (p.Size > 0) != (what == "ping" || what == "compound") {
				t.Errorf("%s: %+v, %v", what, p, err)
			}
			if p.Size > 0 && (p != Ping{seq: 7, to: netip.MustParseAddrPort("10.0.0.2:7946"), Size: len(ask)}) {
				t.Errorf("%s: %+v", what, p)
			}
		}
	}
}

func TestThePacketFilterRefusesWhatMembersDoNotSend(t *testing.T) {
	ask := peertest.Pack(PingMsg, "SeqNo", 7)
	for what, packet := range map[string][]byte{
		"nothing": {}, "user message": peertest.Pack(8, "SeqNo", 7), "compressed": peertest.Pack(9, "Algo", 0),
		"label":                   {244, 1, 'x'},
		"a push/pull in a packet": peertest.Pack(PushPullMsg), "an array": {AliveMsg, 0x91, 0},
		"nested":            peertest.Compound(peertest.Compound(ask)),
		"an empty compound": {CompoundMsg, 0}, "an empty part": {CompoundMsg, 1, 0, 0},
		"cut short":               peertest.Compound(ask, ask)[:30],
		"a long name":             peertest.LongNamed(AliveMsg),
		"a long name of a dead":   peertest.LongNamed(DeadMsg),
		"a long accuser":          peertest.Pack(SuspectMsg, "From", strings.Repeat("x", maxNode+1)),
		"escape sequences":        peertest.Pack(DeadMsg, "Node", "\x1b[2J"),
		"two lines":               peertest.Pack(SuspectMsg, "From", "a\nb"),
		"no UTF-8":                peertest.Pack(AliveMsg, "Node", "\xff"),
		"long metadata":           peertest.Pack(AliveMsg, "Meta", make([]byte, maxField+1)),
		"half a version":          peertest.Pack(AliveMsg, "Vsn", make([]byte, 3)),
		"a short address":         peertest.Pack(PingMsg, "SourceAddr", []byte{1}, "SourcePort", 7),
		"a high port":             peertest.Pack(PingMsg, "SourceAddr", make([]byte, 4), "SourcePort", 1<<16),
		"a length beyond the end": {AliveMsg, 0x81, 0xdb, 0xff, 0xff, 0xff, 0xff, 'x'},
		"a map within":            {AliveMsg, 0x81, 0xa1, 'x', 0x80},
	} {
		if _, err := Filter(packet, false); err == nil {
			t.Errorf("%s passes", what)
		}
	}
	for what, packet := range map[string][]byte{
		"two pings": peertest.Compound(ask, ask), "a hidden ping": peertest.Compound(peertest.Pack(DeadMsg), ask),
		"a request to ping": peertest.Pack(IndirectPingMsg, "SeqNo", 7),
	} {
		if _, err := Filter(packet, true); err == nil {
			t.Errorf("%s passes in the clear", what)
		}
		if _, err := Filter(packet, false); err != nil {
			t.Errorf("%s of a member: %v", what, err)
		}
	}
}

func TestAHeaderMustAnnounceWhatIsThere(t *testing.T) {
	node := peertest.Pack(0, "Name", "a", "Meta", make([]byte, 63))[1:]
	full := func(nodes, state int, rest ...[]byte) []byte {
		return append(peertest.Pack(PushPullMsg, "Nodes", nodes, "UserStateLen", state, "Join", 0),
			bytes.Join(rest, nil)...)
	}
	for what, stream := range map[string][]byte{
		"nobody": full(0, 0), "two nodes": full(2, 0, node, node), "a state": full(1, 3, node, []byte("abc")),
		"a ping": peertest.Pack(PingMsg, "SeqNo", 1), "an error": peertest.Pack(ErrMsg, "Error", "no"),
	} {
		if err := FilterStream(stream); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, stream := range map[string][]byte{
		"2^20 nodes": full(1<<20, 0, node), "one more": full(3, 0, node, node), "one less": full(1, 0, node, node),
		"fewer than none": full(-1, 0), "a state that is not there": full(0, 1<<20), "a negative state": full(0, -1),
		"a long name": full(1, 0, peertest.LongNamed(0)[1:]), "nothing": {}, "compressed": peertest.Pack(9, "Algo", 0),
		"a user message": peertest.Pack(8, "UserMsgLen", 1<<20),
	} {
		if err := FilterStream(stream); err == nil {
			t.Errorf("%s passes", what)
		}
	}
}

// A stream that passes announces no more than it contains.
func FuzzPacketFilter(f *testing.F) {
	for _, packet := range peertest.Junk() {
		f.Add(packet, true)
	}
	f.Add(peertest.Pack(PushPullMsg, "Nodes", 1, "UserStateLen", 0), false)
	f.Add(peertest.Compound(peertest.Pack(PingMsg, "SeqNo", 7), peertest.Pack(DeadMsg, "Node", "x")), true)
	f.Fuzz(func(t *testing.T, b []byte, open bool) {
		p, err := Filter(b, open)
		if err == nil && (p.Size > len(b) || p.Size < 0) {
			t.Errorf("a ping of %d bytes in %d", p.Size, len(b))
		}
		_ = FilterStream(b)
	})
}

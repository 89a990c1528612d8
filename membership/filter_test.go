package membership

import (
	"bytes"
	"net/netip"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/membership/peertest"
)

func TestThePacketFilterPassesWhatMembersSend(t *testing.T) {
	name := strings.Repeat("n", maxNode)
	ask := peertest.Pack(pingMsg, "SeqNo", 7, "Node", name, "SourceAddr", []byte{10, 0, 0, 2}, "SourcePort", 7946, "SourceNode", name)
	alive := peertest.Pack(aliveMsg, "Incarnation", 1, "Node", name, "Addr", []byte{10, 0, 0, 1}, "Port", 7946, "Meta", make([]byte, 63), "Vsn", make([]byte, 6))
	for _, clear := range []bool{true, false} {
		for what, packet := range map[string][]byte{
			"ping": ask, "ack": peertest.Pack(ackRespMsg, "SeqNo", 7, "Payload", make([]byte, 8)), "alive": alive,
			"dead":     peertest.Pack(deadMsg, "Incarnation", 1, "Node", name, "From", name),
			"compound": peertest.Compound(ask, alive), "nack": peertest.Pack(nackRespMsg, "SeqNo", 7),
			"checksum": append([]byte{hasCrcMsg, 1, 2, 3, 4}, peertest.Compound(alive, alive)...),
		} {
			p, err := filterPacket(packet, clear)
			if err != nil || (p.size > 0) != (what == "ping" || what == "compound") {
				t.Errorf("%s: %+v, %v", what, p, err)
			}
			if p.size > 0 && (p != ping{seq: 7, to: netip.MustParseAddrPort("10.0.0.2:7946"), size: len(ask)}) {
				t.Errorf("%s: %+v", what, p)
			}
		}
	}
}

func TestThePacketFilterRefusesWhatMembersDoNotSend(t *testing.T) {
	ask := peertest.Pack(pingMsg, "SeqNo", 7)
	for what, packet := range map[string][]byte{
		"nothing": {}, "user message": peertest.Pack(8, "SeqNo", 7), "compressed": peertest.Pack(9, "Algo", 0), "label": {244, 1, 'x'},
		"a push/pull in a packet": peertest.Pack(pushPullMsg), "an array": {aliveMsg, 0x91, 0}, "nested": peertest.Compound(peertest.Compound(ask)),
		"an empty compound": {compoundMsg, 0}, "an empty part": {compoundMsg, 1, 0, 0}, "cut short": peertest.Compound(ask, ask)[:30],
		"a long name":           peertest.LongNamed(aliveMsg),
		"a long name of a dead": peertest.LongNamed(deadMsg), "a long accuser": peertest.Pack(suspectMsg, "From", strings.Repeat("x", maxNode+1)),
		"escape sequences": peertest.Pack(deadMsg, "Node", "\x1b[2J"), "two lines": peertest.Pack(suspectMsg, "From", "a\nb"), "no UTF-8": peertest.Pack(aliveMsg, "Node", "\xff"),
		"long metadata":   peertest.Pack(aliveMsg, "Meta", make([]byte, maxField+1)),
		"half a version":  peertest.Pack(aliveMsg, "Vsn", make([]byte, 3)),
		"a short address": peertest.Pack(pingMsg, "SourceAddr", []byte{1}, "SourcePort", 7), "a high port": peertest.Pack(pingMsg, "SourceAddr", make([]byte, 4), "SourcePort", 1<<16),
		"a length beyond the end": {aliveMsg, 0x81, 0xdb, 0xff, 0xff, 0xff, 0xff, 'x'}, "a map within": {aliveMsg, 0x81, 0xa1, 'x', 0x80},
	} {
		if _, err := filterPacket(packet, false); err == nil {
			t.Errorf("%s passes", what)
		}
	}
	for what, packet := range map[string][]byte{
		"two pings": peertest.Compound(ask, ask), "a hidden ping": peertest.Compound(peertest.Pack(deadMsg), ask), "a request to ping": peertest.Pack(indirectPingMsg, "SeqNo", 7),
	} {
		if _, err := filterPacket(packet, true); err == nil {
			t.Errorf("%s passes in the clear", what)
		}
		if _, err := filterPacket(packet, false); err != nil {
			t.Errorf("%s of a member: %v", what, err)
		}
	}
}

func TestAHeaderMustAnnounceWhatIsThere(t *testing.T) {
	node := peertest.Pack(0, "Name", "a", "Meta", make([]byte, 63))[1:]
	full := func(nodes, state int, rest ...[]byte) []byte {
		return append(peertest.Pack(pushPullMsg, "Nodes", nodes, "UserStateLen", state, "Join", 0), bytes.Join(rest, nil)...)
	}
	for what, stream := range map[string][]byte{
		"nobody": full(0, 0), "two nodes": full(2, 0, node, node), "a state": full(1, 3, node, []byte("abc")),
		"a ping": peertest.Pack(pingMsg, "SeqNo", 1), "an error": peertest.Pack(errMsg, "Error", "no"),
	} {
		if err := filterStream(stream); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, stream := range map[string][]byte{
		"2^20 nodes": full(1<<20, 0, node), "one more": full(3, 0, node, node), "one less": full(1, 0, node, node),
		"fewer than none": full(-1, 0), "a state that is not there": full(0, 1<<20), "a negative state": full(0, -1),
		"a long name": full(1, 0, peertest.LongNamed(0)[1:]), "nothing": {}, "compressed": peertest.Pack(9, "Algo", 0), "a user message": peertest.Pack(8, "UserMsgLen", 1<<20),
	} {
		if err := filterStream(stream); err == nil {
			t.Errorf("%s passes", what)
		}
	}
}

// What passes announces no more than is there.
func FuzzPacketFilter(f *testing.F) {
	for _, packet := range peertest.Junk() {
		f.Add(packet, true)
	}
	f.Add(peertest.Pack(pushPullMsg, "Nodes", 1, "UserStateLen", 0), false)
	f.Add(peertest.Compound(peertest.Pack(pingMsg, "SeqNo", 7), peertest.Pack(deadMsg, "Node", "x")), true)
	f.Fuzz(func(t *testing.T, b []byte, open bool) {
		p, err := filterPacket(b, open)
		if err == nil && (p.size > len(b) || p.size < 0) {
			t.Errorf("a ping of %d bytes in %d", p.size, len(b))
		}
		_ = filterStream(b)
	})
}

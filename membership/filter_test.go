package membership

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"
)

// pack writes one message as memberlist does: its type and a map of the fields, each a key and a string, []byte or int.
func pack(kind byte, entries ...any) []byte {
	b := []byte{kind, 0x80 | byte(len(entries)/2)}
	for _, e := range entries {
		switch e := e.(type) {
		case string:
			b = binary.BigEndian.AppendUint16(append(b, 0xda), uint16(len(e)))
			b = append(b, e...)
		case []byte:
			b = binary.BigEndian.AppendUint32(append(b, 0xc6), uint32(len(e)))
			b = append(b, e...)
		case int:
			b = binary.BigEndian.AppendUint64(append(b, 0xd3), uint64(e))
		}
	}
	return b
}

// compound joins messages as memberlist does.
func compound(messages ...[]byte) []byte {
	b := []byte{compoundMsg, byte(len(messages))}
	for _, m := range messages {
		b = binary.BigEndian.AppendUint16(b, uint16(len(m)))
	}
	return append(b, bytes.Join(messages, nil)...)
}

func longNamed(kind byte) []byte {
	return pack(kind, "Incarnation", 1, "Node", strings.Repeat("x", maxNode+1))
}

func TestThePacketFilterPassesWhatMembersSend(t *testing.T) {
	name := strings.Repeat("n", maxNode)
	ask := pack(pingMsg, "SeqNo", 7, "Node", name, "SourceAddr", []byte{10, 0, 0, 2}, "SourcePort", 7946, "SourceNode", name)
	alive := pack(aliveMsg, "Incarnation", 1, "Node", name, "Addr", []byte{10, 0, 0, 1}, "Port", 7946, "Meta", make([]byte, 63), "Vsn", make([]byte, 6))
	for _, clear := range []bool{true, false} {
		for what, packet := range map[string][]byte{
			"ping": ask, "ack": pack(ackRespMsg, "SeqNo", 7, "Payload", make([]byte, 8)), "alive": alive,
			"dead":     pack(deadMsg, "Incarnation", 1, "Node", name, "From", name),
			"compound": compound(ask, alive), "nack": pack(nackRespMsg, "SeqNo", 7),
			"checksum": append([]byte{hasCrcMsg, 1, 2, 3, 4}, compound(alive, alive)...),
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
	ask := pack(pingMsg, "SeqNo", 7)
	for what, packet := range map[string][]byte{
		"nothing": {}, "user message": pack(8, "SeqNo", 7), "compressed": pack(9, "Algo", 0), "label": {244, 1, 'x'},
		"a push/pull in a packet": pack(pushPullMsg), "an array": {aliveMsg, 0x91, 0}, "nested": compound(compound(ask)),
		"an empty compound": {compoundMsg, 0}, "an empty part": {compoundMsg, 1, 0, 0}, "cut short": compound(ask, ask)[:30],
		"a long name":           longNamed(aliveMsg),
		"a long name of a dead": longNamed(deadMsg), "a long accuser": pack(suspectMsg, "From", strings.Repeat("x", maxNode+1)),
		"escape sequences": pack(deadMsg, "Node", "\x1b[2J"), "two lines": pack(suspectMsg, "From", "a\nb"), "no UTF-8": pack(aliveMsg, "Node", "\xff"),
		"long metadata":   pack(aliveMsg, "Meta", make([]byte, maxField+1)),
		"half a version":  pack(aliveMsg, "Vsn", make([]byte, 3)),
		"a short address": pack(pingMsg, "SourceAddr", []byte{1}, "SourcePort", 7), "a high port": pack(pingMsg, "SourceAddr", make([]byte, 4), "SourcePort", 1<<16),
		"a length beyond the end": {aliveMsg, 0x81, 0xdb, 0xff, 0xff, 0xff, 0xff, 'x'}, "a map within": {aliveMsg, 0x81, 0xa1, 'x', 0x80},
	} {
		if _, err := filterPacket(packet, false); err == nil {
			t.Errorf("%s passes", what)
		}
	}
	for what, packet := range map[string][]byte{
		"two pings": compound(ask, ask), "a hidden ping": compound(pack(deadMsg), ask), "a request to ping": pack(indirectPingMsg, "SeqNo", 7),
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
	node := pack(0, "Name", "a", "Meta", make([]byte, 63))[1:]
	full := func(nodes, state int, rest ...[]byte) []byte {
		return append(pack(pushPullMsg, "Nodes", nodes, "UserStateLen", state, "Join", 0), bytes.Join(rest, nil)...)
	}
	for what, stream := range map[string][]byte{
		"nobody": full(0, 0), "two nodes": full(2, 0, node, node), "a state": full(1, 3, node, []byte("abc")),
		"a ping": pack(pingMsg, "SeqNo", 1), "an error": pack(errMsg, "Error", "no"),
	} {
		if err := filterStream(stream); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, stream := range map[string][]byte{
		"2^20 nodes": full(1<<20, 0, node), "one more": full(3, 0, node, node), "one less": full(1, 0, node, node),
		"fewer than none": full(-1, 0), "a state that is not there": full(0, 1<<20), "a negative state": full(0, -1),
		"a long name": full(1, 0, longNamed(0)[1:]), "nothing": {}, "compressed": pack(9, "Algo", 0), "a user message": pack(8, "UserMsgLen", 1<<20),
	} {
		if err := filterStream(stream); err == nil {
			t.Errorf("%s passes", what)
		}
	}
}

// What passes announces no more than is there.
func FuzzPacketFilter(f *testing.F) {
	for _, packet := range junkPackets(f) {
		f.Add(packet, true)
	}
	f.Add(pack(pushPullMsg, "Nodes", 1, "UserStateLen", 0), false)
	f.Add(compound(pack(pingMsg, "SeqNo", 7), pack(deadMsg, "Node", "x")), true)
	f.Fuzz(func(t *testing.T, b []byte, open bool) {
		p, err := filterPacket(b, open)
		if err == nil && (p.size > len(b) || p.size < 0) {
			t.Errorf("a ping of %d bytes in %d", p.size, len(b))
		}
		_ = filterStream(b)
	})
}

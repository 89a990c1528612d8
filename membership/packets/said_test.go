package packets

import (
	"bytes"
	"net/netip"
	"slices"
	"testing"

	"github.com/wanderd/wanderd/membership/peertest"
)

func TestAStatementAboutAMemberRoundTrips(t *testing.T) {
	said := Alive{
		Node: []byte("host1~x"), Addr: []byte{10, 0, 0, 1}, Port: 7946, Meta: bytes.Repeat([]byte{7}, 255),
		Vsn: []byte{1, 5, 2, 0, 0, 0}, Incarnation: 1 << 40,
	}
	message := said.Message()
	if _, err := Filter(message, false); err == nil {
		t.Error("the incarnation is absurd")
	}
	said.Incarnation = 70_000
	var heard []Alive
	keep := func(a *Alive) { heard = append(heard, a.Clone()) }
	message = said.Message()
	dead := peertest.Pack(DeadMsg, "Incarnation", 1, "Node", "host2~x", "From", "host1~x")
	for _, packet := range [][]byte{
		message, peertest.Compound(message), peertest.Compound(dead, message),
		append([]byte{HasCrcMsg, 1, 2, 3, 4}, peertest.Compound(message, dead)...),
	} {
		if _, err := Filter(packet, false); err != nil {
			t.Error(err)
		}
		EachInPacket(packet, keep)
	}
	node := func(state int) []byte {
		return peertest.Pack(0, "Name", "host1~x", "Addr", said.Addr, "Port", 7946, "Meta", said.Meta, "Incarnation",
			70_000, "State", state, "Vsn", said.Vsn)[1:]
	}
	sync := slices.Concat(peertest.Pack(PushPullMsg, "Nodes", 3, "UserStateLen", 1, "Join", 0), node(0), node(2),
		node(0), []byte{0})
	if err := FilterStream(sync); err != nil {
		t.Error(err)
	}
	EachInSync(sync, keep)
	if len(heard) != 6 {
		t.Errorf("heard %d times", len(heard))
	}
	for i := range heard {
		if !bytes.Equal(heard[i].Message(), message) {
			t.Errorf("heard %+v", heard[i])
		}
	}
	if at, err := heard[0].At(); err != nil || at != netip.MustParseAddrPort("10.0.0.1:7946") {
		t.Errorf("at %v, %v", at, err)
	}
}

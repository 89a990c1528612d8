package admission

import (
	"fmt"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

// atOnce is how many owners are asked at a time.
const atOnce = 8

func TestUnverifiedMembersAreBounded(t *testing.T) {
	s, a := NewUnverified(wire.MemberID{}), New(&peertest.Office{})
	now := time.Now()
	say := func(from wire.MemberID, i int) {
		meta := peers.Metadata{Key: peertest.KeyOf(i), Counter: 1}
		node := identity.NodeName(fmt.Sprintf("host%d", i), wire.MemberIDOf(peertest.KeyOf(i)))
		s.Hear(a, from, &packets.Alive{
			Node: []byte(node), Addr: []byte{10, 0, 0, 1}, Port: 7946,
			Meta: meta.Encode(peertest.PrivateOf(i), node, peertest.AddrOf(i)), Vsn: make([]byte, 6),
		}, now)
	}
	byzantine, honest := wire.MemberID{1}, wire.MemberID{2}
	say(honest, 1)
	for i := range MaxUnverified + 100 {
		say(byzantine, 2+i)
	}
	if _, there := s.list[wire.MemberIDOf(peertest.KeyOf(1))]; !there || len(s.list) != MaxUnverified {
		t.Errorf("%d unverified members are kept, that of an honest member: %v", len(s.list), there)
	}
	turns := map[wire.MemberID]int{}
	for range 1000 {
		from, wanted := s.Wanted()
		if len(wanted) != MaxUnverified {
			t.Fatalf("%d are wanted", len(wanted))
		}
		turns[from]++
	}
	if turns[honest] < 300 || turns[byzantine] < 300 {
		t.Errorf("turns: %v", turns)
	}
	_, wanted := s.Wanted()
	s.Asked(wanted, byzantine, true, false)
	if _, wanted = s.Wanted(); len(wanted) != 1 {
		t.Errorf("of %d others are still asked", len(wanted))
	}
	if n := len(s.Owners(atOnce, now)); n != atOnce {
		t.Errorf("%d owners", n)
	}
	for range meetTries {
		s.Asked(wanted, honest, false, false)
	}
	if _, wanted = s.Wanted(); len(wanted) != 0 {
		t.Error("others are asked for ever")
	}
	for _, later := range []time.Duration{0, MeetAgain} {
		now = now.Add(later)
		s.Owners(MaxUnverified, now)
		say(honest, 1)
		if _, wanted = s.Wanted(); (len(wanted) == 1) != (later > 0) {
			t.Errorf("after %v %d are asked for again", later, len(wanted))
		}
	}
	if _, ok := s.Leave("host1", wire.MemberIDOf(peertest.KeyOf(1)), now.Add(MeetAgain)); ok {
		t.Error("what was said long ago is heard")
	}
}

package membership

import (
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/packets"
	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

// tell sends a message of gossip to host 1, from a sender that has the secret and no member's key.
func (f *fleet) tell(h *host, message []byte) {
	h.Deliver(peertest.SealPacket(f.t, secretOne, 1, introducerOf(66).SignPacket(message)), peertest.AddrOf(66))
}

// aliveOf returns an alive message about host i with this metadata and address.
func aliveOf(i int, incarnation int, addr netip.AddrPort, meta []byte) []byte {
	return peertest.Pack(packets.AliveMsg, "Incarnation", incarnation, "Node",
		identity.NodeName("host"+string(rune('0'+i)), wire.MemberIDOf(peertest.KeyOf(i))),
		"Addr", addr.Addr().AsSlice(), "Port", int(addr.Port()), "Meta", meta, "Vsn", []byte{1, 5, 2, 0, 0, 0})
}

func TestOnlyAMemberSaysThatItLeavesOrWhereItIs(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(3)
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		node := identity.NodeName("host2", wire.MemberIDOf(peertest.KeyOf(2)))
		for _, incarnation := range []int{100, 80_000, math.MaxUint32} {
			leaving := peers.Metadata{Key: peertest.KeyOf(2), Counter: math.MaxUint64, Leaving: true}
			moved := peers.Metadata{Key: peertest.KeyOf(2), Counter: math.MaxUint64}
			f.tell(hosts[0],
				aliveOf(2, incarnation, peertest.AddrOf(2),
					leaving.Encode(peertest.PrivateOf(66), node, peertest.AddrOf(2))))
			f.tell(hosts[0],
				aliveOf(2, incarnation, peertest.AddrOf(66),
					moved.Encode(peertest.PrivateOf(66), node, peertest.AddrOf(66))))
		}
		if s := hosts[0].Stats(); s.Malformed != 2 {
			t.Errorf("counted %+v", s)
		}
		f.always(time.Minute, "nobody left or moved", func() bool {
			m, ok := hosts[0].view().Lookup(wire.MemberIDOf(peertest.KeyOf(2)))
			return ok && m.Addr == peertest.AddrOf(2) && allSee(hosts, 1, 2, 3)()
		})
	})
}

// Without the bound on incarnations, the member would be out for good: nothing is higher than the highest number.
func TestAMemberThatIsCalledDeadIsBackAtOnce(t *testing.T) {
	inFleet(t, func(_ *testing.T, f *fleet) {
		hosts := f.startAll(3)
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		node := identity.NodeName("host2", wire.MemberIDOf(peertest.KeyOf(2)))
		for _, incarnation := range []uint64{
			100, packets.HighestIncarnation(time.Now()), math.MaxUint32 - 1, math.MaxUint32,
		} {
			f.tell(hosts[0], peertest.Pack(packets.DeadMsg, "Incarnation", int(incarnation), "Node", node, "From",
				node))
			f.tell(hosts[0], peertest.Pack(packets.SuspectMsg, "Incarnation", int(incarnation), "Node", node, "From",
				node))
			time.Sleep(10 * time.Millisecond)
			f.within(20*time.Second, "it is back", allSee(hosts, 1, 2, 3))
		}
		f.always(time.Minute, "the fleet goes on", allSee(hosts, 1, 2, 3))
	})
}

// A host whose clock was set back announces with a lower counter than before its restart, until it hears of that.
func TestAMemberOutbidsItsFormerLife(t *testing.T) {
	inFleet(t, func(_ *testing.T, f *fleet) {
		hosts := f.startAll(3)
		f.within(5*time.Second, "everybody sees everybody", allSee(hosts, 1, 2, 3))
		node := identity.NodeName("host2", wire.MemberIDOf(peertest.KeyOf(2)))
		former := peers.Metadata{
			Key: peertest.KeyOf(2), Counter: uint64(time.Now().Add(time.Hour).UnixMilli()), Leaving: true,
		}
		f.tell(hosts[0],
			aliveOf(2, 100, peertest.AddrOf(2), former.Encode(peertest.PrivateOf(2), node, peertest.AddrOf(2))))
		f.within(time.Second, "they believe it", func() bool { return hosts[0].sees(1, 3) })
		f.within(20*time.Second, "it is back", allSee(hosts, 1, 2, 3))
	})
}

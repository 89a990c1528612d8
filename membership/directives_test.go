package membership

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/membership/broadcast"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/membership/timing"
	"github.com/wanderd/wanderd/wire"
)

// pausedBy returns a directive of host i to gate a.
func pausedBy(i int, stamp uint64) Broadcast {
	return Broadcast{
		Gate: gateA, Directive: wire.Directive{
			Stamp: stamp, By: wire.MemberIDOf(peertest.KeyOf(i)), Until: wire.ForEver,
		},
		Who: fmt.Sprintf("alice@host%d", i), Reason: "ticket 4711",
	}
}

func TestTextsThatCannotBeShownAreRefused(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		h := f.start(1)
		for _, n := range []Broadcast{
			{Gate: gateA, Who: strings.Repeat("w", broadcast.MaxWho+1)},
			{Gate: gateA, Reason: strings.Repeat("r", broadcast.MaxReason+1)},
			{Gate: gateA, Reason: "a\x1b[31m"},
		} {
			n.Directive = pausedBy(1, 7).Directive
			if err := h.Broadcast(n); err == nil || len(h.Broadcasts()) > 0 {
				t.Errorf("%q, %q: %v", n.Who, n.Reason, err)
			}
		}
	})
}

func TestADirectiveReachesAllMembersAtOnceAndThoseThatComeLater(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(10)
		other := f.start(11, func(c *Config) { c.Gates = []wire.GateID{gateB} })
		time.Sleep(30 * time.Second)
		n := pausedBy(4, uint64(time.Now().UnixMilli()))
		if err := hosts[3].Broadcast(n); err != nil {
			t.Fatal(err)
		}
		time.Sleep(gossipEvery / 2) // no tick of gossip is needed
		for i, h := range append(hosts, f.start(12)) {
			if i == len(hosts) {
				time.Sleep(2 * time.Second)
			}
			if list := h.Broadcasts(); len(list) != 1 || list[0] != n {
				t.Errorf("host %d knows %+v", i+1, list)
			}
			select {
			case <-h.News():
			default:
				t.Errorf("host %d is not told", i+1)
			}
		}
		if list := other.Broadcasts(); len(list) > 0 {
			t.Errorf("a host without the gate keeps %+v", list)
		}
	})
}

// redials are streams that are opened as by a kernel: a lost packet is sent again after a second, and after pauses that
// double.
type redials struct{ Streams }

func (r redials) Dial(ctx context.Context, dst netip.AddrPort) (net.Conn, error) {
	const attempt = 10 * time.Millisecond
	for pause := time.Second; ; pause *= 2 {
		try, cancel := context.WithTimeout(ctx, attempt)
		conn, err := r.Streams.Dial(try, dst)
		cancel()
		if err == nil || !timing.Sleep(ctx, pause-attempt) {
			return conn, err
		}
	}
}

// A member that was cut off, for a short or a long time, hears at once what it has missed, even if no other member
// repeats it any more.
func TestAMemberThatWasCutOffLearnsOfADirectiveWithinASecond(t *testing.T) {
	for _, away := range []time.Duration{7 * time.Second, 5 * time.Minute} {
		t.Run(away.String(), func(t *testing.T) {
			inFleet(t, func(t *testing.T, f *fleet) {
				f.wrap = func(s Streams) Streams { return redials{s} }
				hosts := f.startAll(10)
				time.Sleep(30 * time.Second)
				var others []netip.AddrPort
				for i := range 9 {
					others = append(others, peertest.AddrOf(i+1))
				}
				f.net.Partition(others, []netip.AddrPort{peertest.AddrOf(10)})
				n := pausedBy(1, uint64(time.Now().UnixMilli()))
				if err := hosts[0].Broadcast(n); err != nil {
					t.Fatal(err)
				}
				time.Sleep(away)
				if list := hosts[9].Broadcasts(); len(list) > 0 {
					t.Fatalf("it knows %+v already", list)
				}
				f.net.Heal()
				limit := time.Second
				if away > time.Minute {
					limit = pingMax + time.Second
				}
				f.within(limit, "it knows the directive", func() bool { return len(hosts[9].Broadcasts()) == 1 })
			})
		})
	}
}

// A member may give a directive to a gate that it does not have: the members that have the gate get it, even those that
// come later, and the others keep nothing. The gate may be a small part of the fleet.
func TestADirectiveToAGateThatItsGiverDoesNotHave(t *testing.T) {
	inFleet(t, func(t *testing.T, f *fleet) {
		hosts := f.startAll(10)
		ofB := func(c *Config) { c.Gates = []wire.GateID{gateB} }
		other := f.start(11, ofB)
		time.Sleep(30 * time.Second)
		n := pausedBy(1, uint64(time.Now().UnixMilli()))
		n.Gate = gateB
		if err := hosts[0].Broadcast(n); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		later := f.start(12, ofB)
		f.within(time.Minute, "a host that comes later", func() bool { return len(later.Broadcasts()) == 1 })
		if list := other.Broadcasts(); len(list) != 1 || list[0] != n {
			t.Errorf("a host with the gate knows %+v", list)
		}
		for i, h := range hosts {
			if list := h.Broadcasts(); len(list) > 0 {
				t.Errorf("host %d, without the gate, knows %+v", i+1, list)
			}
		}
		if _, err := hosts[0].SetGates([]wire.GateID{gateA}); err != nil {
			t.Fatal(err)
		}
		if errands := hosts[0].broadcasts.Errands(); len(errands) != 1 {
			t.Errorf("after a reload it carries directives to %v", errands)
		}
		for g := range wire.GateID(2 * broadcast.MaxErrands) {
			n.Gate = 1000 + g
			if err := hosts[0].Broadcast(n); (err != nil) != (g >= broadcast.MaxErrands-1) {
				t.Errorf("directive %d to another gate: %v", g+2, err)
			}
		}
	})
}

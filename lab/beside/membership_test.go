package beside

import (
	"crypto/ed25519"
	"encoding/binary"
	"flag"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/transport"
	"github.com/wanderd/wanderd/agent/transport/memnet"
	"github.com/wanderd/wanderd/lab/bubble"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// sizes are the sizes of the fleets that are measured. 200 members take some minutes.
var sizes = flag.String("sizes", "5,20,50", "how many members the measured memberships have")

// sim.MeasuredMembership describes what real memberships do.
func TestTheSimulatedMembershipIsTheMeasuredOne(t *testing.T) {
	for text := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatal(err)
		}
		if n > 5 && !deep.Is() || n > 20 && !deep.Night() {
			continue
		}
		t.Run(text, func(t *testing.T) {
			bubble.Test(t, func(t *testing.T) { measure(t, n) })
		})
	}
}

// measure lets members of a fleet of n come and go.
func measure(t *testing.T, n int) {
	f := &gossips{
		t: t, net: memnet.New(memnet.Options{Seed: 1, Latency: latency, Jitter: latency}),
		hosts: make([]*gossip, n), seen: make(map[int][]change),
	}
	for i := range n {
		f.start(i)
		time.Sleep(20 * time.Millisecond)
	}
	time.Sleep(time.Minute)
	var own, known, left, noticed, parted, healed []time.Duration
	missed, rounds := 0, max(4, 40/n)
	for r := range rounds {
		who := r % n
		begin := f.crash(who)
		time.Sleep(40 * time.Second)
		noticed = append(noticed, f.since(begin, who, false)...)
		begin = f.start(who)
		time.Sleep(20 * time.Second)
		known = append(known, f.since(begin, who, true)...)
		own = append(own, f.own(begin, who)...)
		begin = f.crash(who)
		time.Sleep(3 * time.Second)
		f.start(who)
		time.Sleep(30 * time.Second)
		missed += len(f.since(begin, who, false))
		for range 5 {
			begin = f.leave(who)
			time.Sleep(20 * time.Second)
			left = append(left, f.since(begin, who, false)...)
			begin = f.start(who)
			time.Sleep(20 * time.Second)
			known = append(known, f.since(begin, who, true)...)
		}
	}
	var sides [2][]netip.AddrPort
	for i := range n {
		sides[i%2] = append(sides[i%2], addrOf(i))
	}
	begin := time.Now()
	f.net.Partition(sides[:]...)
	time.Sleep(2 * time.Minute)
	for i := range n {
		parted = append(parted, f.ofSide(begin, i, false)...)
	}
	begin = time.Now()
	f.net.Heal()
	time.Sleep(time.Minute)
	for i := range n {
		healed = append(healed, f.ofSide(begin, i, true)...)
	}
	for _, h := range f.hosts {
		h.end()
	}
	time.Sleep(15 * time.Second)

	m := sim.MeasuredMembership(n)
	half := m.Spread / 2
	t.Logf("%d members, in seconds: p10, p50, p90, longest, and what the simulator takes for the middle", n)
	// One change goes out at once or at the next tick, to all members alike; so may the middle one of twenty.
	slack := 600 * time.Millisecond
	report(t, "who starts sees the others", own, m.GossipAfter, 50*time.Millisecond)
	report(t, "the others see it", known, m.GossipAfter+half, slack)
	report(t, "a member that left is gone", left, m.GossipAfter+m.LeaveSpread/2, slack)
	report(t, "a crash is noticed", noticed, m.DetectAfter+m.DetectMore*7/10+half, m.DetectAfter/4)
	report(t, "a partition is noticed", parted, m.CutAfter, m.CutAfter)
	report(t, "it is whole again", healed, m.RejoinAfter+half, 2*time.Second)
	t.Logf("%-28s noticed by %d of %d", "an absence of three seconds", missed, rounds*(n-1))
	if missed > rounds*(n-1)/20 {
		t.Error("who is back in time was never gone")
	}
}

func report(t *testing.T, what string, took []time.Duration, simulated, slack time.Duration) {
	t.Helper()
	if len(took) == 0 {
		t.Errorf("%s: never", what)
		return
	}
	slices.Sort(took)
	at := func(q float64) float64 { return took[int(q*float64(len(took)-1))].Seconds() }
	t.Logf("%-28s %6.2f %6.2f %6.2f %6.2f   %6.2f", what, at(0.1), at(0.5), at(0.9), at(1), simulated.Seconds())
	if off := at(0.5) - simulated.Seconds(); off > slack.Seconds() || off < -slack.Seconds() {
		t.Errorf("%s: %.2f s, and not %.2f s", what, at(0.5), simulated.Seconds())
	}
}

// gossips is a fleet of memberships without the agents around them.
type gossips struct {
	t     *testing.T
	net   *memnet.Network
	hosts []*gossip
	mu    sync.Mutex
	// seen is what each membership has seen change.
	seen map[int][]change
}

// change is a member that came into a view, or went out of it.
type change struct {
	at   time.Time
	who  wire.MemberID
	in   bool
	size int
}

// gossip is one membership.
type gossip struct {
	*membership.Membership
	endpoint *transport.Endpoint
	stop     chan struct{}
}

func (g *gossip) end() {
	close(g.stop)
	_ = g.Shutdown()
	_ = g.endpoint.Close()
}

func privateOf(i int) ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(binary.BigEndian.AppendUint64(make([]byte, ed25519.SeedSize-8), uint64(i)))
}

func keyOf(i int) ed25519.PublicKey { return privateOf(i).Public().(ed25519.PublicKey) }

func idOf(i int) wire.MemberID { return wire.MemberIDOf(keyOf(i)) }

const envelope = "wd\x01\x01"

type gossipWriter struct{ transport.Packets }

func (w gossipWriter) WriteGossip(payload []byte, dst netip.AddrPort) error {
	return w.WriteTo(append([]byte(envelope), payload...), netip.Addr{}, dst)
}

func (f *gossips) start(i int) time.Time {
	f.t.Helper()
	g := &gossip{endpoint: f.net.Endpoint(addrOf(i)), stop: make(chan struct{})}
	var err error
	g.Membership, err = membership.Start(membership.Config{
		Name: fmt.Sprintf("host%d", i), Key: privateOf(i), Addr: addrOf(i), Secrets: []wire.Secret{{1}},
		Join: []string{addrOf(0).String(), addrOf(1).String()},
		Send: gossipWriter{g.endpoint.Packets}.WriteGossip, Streams: g.endpoint.Streams, Log: zerolog.Nop(),
		Certificate: func() []byte { return nil },
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.hosts[i] = g
	go func() {
		var buf [1500]byte
		for {
			n, src, _, err := g.endpoint.Packets.ReadFrom(buf[:])
			if err != nil {
				return
			}
			g.Deliver(buf[len(envelope):n], src)
		}
	}()
	go f.watch(i, g)
	return time.Now()
}

// watch notes what changes in the views of member i.
func (f *gossips) watch(i int, g *gossip) {
	known := map[wire.MemberID]bool{}
	for {
		select {
		case v := <-g.Views():
			now := map[wire.MemberID]bool{}
			f.mu.Lock()
			note := func(who wire.MemberID, in bool) {
				f.seen[i] = append(f.seen[i], change{time.Now(), who, in, len(v.Members)})
			}
			for _, m := range v.Members {
				if now[m.ID] = true; !known[m.ID] {
					note(m.ID, true)
				}
			}
			for id := range known {
				if !now[id] {
					note(id, false)
				}
			}
			f.mu.Unlock()
			known = now
		case <-g.stop:
			return
		}
	}
}

func (f *gossips) crash(i int) time.Time {
	f.net.Crash(addrOf(i))
	f.hosts[i].end()
	return time.Now()
}

func (f *gossips) leave(i int) time.Time {
	begin := time.Now()
	_ = f.hosts[i].Leave(2 * time.Second)
	f.hosts[i].end()
	return begin
}

// since returns how long it took until each of the others saw that member who came or went.
func (f *gossips) since(begin time.Time, who int, in bool) (took []time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.hosts {
		for _, c := range f.seen[i] {
			if i != who && c.who == idOf(who) && c.in == in && !c.at.Before(begin) {
				took = append(took, c.at.Sub(begin))
				break
			}
		}
	}
	return took
}

// own returns how long it took until member who saw more than half of the fleet.
func (f *gossips) own(begin time.Time, who int) []time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.seen[who] {
		if c.size > len(f.hosts)/2 && !c.at.Before(begin) {
			return []time.Duration{c.at.Sub(begin)}
		}
	}
	return nil
}

// ofSide returns how long it took until member i saw the last member of the other side come or go.
func (f *gossips) ofSide(begin time.Time, i int, in bool) (took []time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.seen[i] {
		if c.in == in && !c.at.Before(begin) {
			took = []time.Duration{c.at.Sub(begin)}
		}
	}
	return took
}

package membership

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"go.uber.org/goleak"

	"github.com/wanderd/wanderd/agent/transport"
	"github.com/wanderd/wanderd/agent/transport/memnet"
	"github.com/wanderd/wanderd/lab/bubble"
	"github.com/wanderd/wanderd/membership/admission"
	"github.com/wanderd/wanderd/membership/peertest"
	"github.com/wanderd/wanderd/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// This file has a fleet of real memberships on a network in memory, in virtual time.

// fleet is a network and its hosts.
type fleet struct {
	t   *testing.T
	net *memnet.Network
	// wrap, if not nil, replaces the streams of hosts that are started.
	wrap func(Streams) Streams
}

// host is one membership with the parts of an agent that it needs.
type host struct {
	*Membership
	f    *fleet
	end  *transport.Endpoint
	logs *peertest.Logs
	// seen is the newest view that was received.
	mu   sync.Mutex
	seen *View
}

// inFleet runs a test in virtual time. It fails if a goroutine has not ended.
func inFleet(t *testing.T, test func(t *testing.T, f *fleet)) {
	t.Helper()
	bubble.Test(t, func(t *testing.T) {
		// Runs after every host has shut down: memberlist's own goroutines end with their current probe.
		t.Cleanup(func() { time.Sleep(15 * time.Second) })
		test(t, &fleet{
			t: t, net: memnet.New(memnet.Options{Seed: 1, Latency: time.Millisecond, Jitter: time.Millisecond}),
		})
	})
}

// introducerOf returns host i as it introduces itself.
func introducerOf(i int) *admission.Introducer {
	return admission.NewIntroducer(fmt.Sprintf("host%d", i), peertest.PrivateOf(i), func() []byte { return nil })
}

var (
	gateA, gateB = wire.GateIDOf("a"), wire.GateIDOf("b")
	secretOne    = bytes.Repeat([]byte{1}, 32)
	secretTwo    = bytes.Repeat([]byte{2}, 32)
)

// start starts host i, which joins host 1, after its configuration has been changed.
func (f *fleet) start(i int, changes ...func(*Config)) *host {
	f.t.Helper()
	cfg := Config{
		Name: fmt.Sprintf("host%d", i), Key: peertest.PrivateOf(i), Gates: []wire.GateID{gateA},
		Addr:    peertest.AddrOf(i),
		Secrets: peertest.SecretsOf(secretOne), Join: []string{"10.0.0.1"},
		Certificate: func() []byte { return nil }, Admit: func(netip.Addr) bool { return true },
	}
	h := &host{f: f, logs: &peertest.Logs{}}
	cfg.Log = zerolog.New(h.logs).Level(zerolog.DebugLevel)
	for _, change := range changes {
		change(&cfg)
	}
	h.end = f.net.Endpoint(cfg.Addr)
	cfg.Send, cfg.Streams = gossipWriter{h.end.Packets}.WriteGossip, h.end.Streams
	if f.wrap != nil {
		cfg.Streams = f.wrap(cfg.Streams)
	}
	var err error
	if h.Membership, err = Start(cfg); err != nil {
		f.t.Fatal(err)
	}
	go h.read()
	f.t.Cleanup(h.stop)
	return h
}

func (f *fleet) startAll(n int) []*host {
	f.t.Helper()
	var hosts []*host
	for i := range n {
		hosts = append(hosts, f.start(i+1))
	}
	return hosts
}

// stop ends a host without Leave.
func (h *host) stop() {
	if err := h.Shutdown(); err != nil {
		h.f.t.Error(err)
	}
	_ = h.end.Close()
}

// crash ends a host as the death of its process does.
func (h *host) crash() {
	h.f.net.Crash(h.end.Addr)
	h.stop()
}

const envelope = "wd\x01\x01"

func (h *host) read() {
	var buf [1500]byte
	for {
		n, src, _, err := h.end.Packets.ReadFrom(buf[:])
		if err != nil {
			return
		}
		h.Deliver(buf[len(envelope):n], src)
	}
}

type gossipWriter struct{ transport.Packets }

func (w gossipWriter) WriteGossip(payload []byte, dst netip.AddrPort) error {
	return w.WriteTo(append([]byte(envelope), payload...), netip.Addr{}, dst)
}

// view returns the newest view of a host.
func (h *host) view() *View {
	h.mu.Lock()
	defer h.mu.Unlock()
	select {
	case h.seen = <-h.Views():
	default:
	}
	return h.seen
}

// sees reports whether a host's view has exactly the members whose keys have these numbers.
func (h *host) sees(numbers ...int) bool {
	var want, got []wire.MemberID
	for _, i := range numbers {
		want = append(want, wire.MemberIDOf(peertest.KeyOf(i)))
	}
	for _, m := range h.view().Members {
		got = append(got, m.ID)
	}
	slices.SortFunc(want, wire.MemberID.Compare)
	return slices.Equal(got, want)
}

func (h *host) state(i int) string {
	for _, m := range h.All() {
		if m.ID == wire.MemberIDOf(peertest.KeyOf(i)) {
			return m.State.String()
		}
	}
	return "unknown"
}

// within waits until ok returns true, at most limit of virtual time.
func (f *fleet) within(limit time.Duration, what string, ok func() bool) {
	f.t.Helper()
	for start := time.Now(); !ok(); {
		if time.Since(start) > limit {
			f.t.Fatalf("not within %v: %s", limit, what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// always checks that ok returns true for all of span.
func (f *fleet) always(span time.Duration, what string, ok func() bool) {
	f.t.Helper()
	for start := time.Now(); time.Since(start) < span; time.Sleep(time.Second) {
		if !ok() {
			f.t.Fatalf("after %v no longer: %s", time.Since(start), what)
		}
	}
}

func allSee(hosts []*host, numbers ...int) func() bool {
	return func() bool {
		for _, h := range hosts {
			if !h.sees(numbers...) {
				return false
			}
		}
		return true
	}
}

func upTo(n int) (numbers []int) {
	for i := range n {
		numbers = append(numbers, i+1)
	}
	return numbers
}

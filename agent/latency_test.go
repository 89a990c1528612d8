package agent

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// benchSkip separates the handoffs of both benchmarks: the figures include the wake-up of an idle processor.
const benchSkip = time.Millisecond

// BenchmarkHandoff measures a handoff between two complete agents on loopback, sealed and signed: from the decision to
// offer the token until the receiver holds it. Compare its p50 with that of BenchmarkThreeBareDatagrams.
func BenchmarkHandoff(b *testing.B) {
	var (
		mu      sync.Mutex
		offered time.Time
		took    []time.Duration
		enough  = make(chan struct{})
	)
	observe := func(o gate.Observation) {
		now := time.Now()
		mu.Lock()
		defer mu.Unlock()
		if o.Note == handoff.NoteOffered {
			offered = now
		}
		if o.Cause == policy.CauseReceived {
			if took = append(took, now.Sub(offered)); len(took) == b.N+warmUp {
				close(enough)
			}
		}
	}
	var secret wire.Secret
	_, _ = rand.Read(secret[:])
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var join []string
	for _, name := range []string{"a", "b"} {
		dir := b.TempDir()
		a, err := New(Config{
			Name: name, Bind: netip.MustParseAddrPort("127.0.0.1:0"), Join: join, StateDir: dir,
			Socket: filepath.Join(dir, "s"), Secret: &secret, StopTimeout: 5 * time.Second, Log: zerolog.Nop(),
			Observe: observe,
			Gates: []gate.Config{{
				Name: "default", Hook: []string{"/bin/true"}, HookTimeout: time.Minute,
				Protocol: wander.Settings{Skip: benchSkip, Op: time.Millisecond, MinInterval: time.Hour},
			}},
		})
		if err != nil {
			b.Fatal(err)
		}
		wg.Go(func() { _ = a.Run(ctx) })
		join = []string{a.Addr().String()}
	}
	select {
	case <-enough:
	case <-time.After(time.Minute + time.Duration(b.N)*10*benchSkip):
		b.Fatal("the token does not go round")
	}
	cancel()
	wg.Wait()
	reportQuantiles(b, took[warmUp:])
}

// warmUp is how many handoffs are not counted: they include the start, the first round trips and the first hooks.
const warmUp = 50

// BenchmarkThreeBareDatagrams is the lower limit: the same three datagrams, signed and verified, between two bare
// sockets.
func BenchmarkThreeBareDatagrams(b *testing.B) {
	p := newBarePair(b)
	arrived := make(chan time.Time)
	go func() {
		defer close(arrived)
		for p.receive(1) {
			p.send(1)
			if !p.receive(1) {
				return
			}
			arrived <- time.Now()
		}
	}()
	var took []time.Duration
	for range b.N {
		time.Sleep(benchSkip)
		start := time.Now()
		p.send(0)
		if !p.receive(0) {
			b.Fatal("no answer")
		}
		p.send(0)
		took = append(took, (<-arrived).Sub(start))
	}
	reportQuantiles(b, took)
}

// barePair is two sockets that send each other datagrams of a token's length, signed.
type barePair struct {
	pub   ed25519.PublicKey
	key   ed25519.PrivateKey
	conns [2]*net.UDPConn
	addrs [2]netip.AddrPort
	bufs  [2][256]byte
}

func newBarePair(b *testing.B) *barePair {
	b.Helper()
	pub, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		b.Fatal(err)
	}
	p := &barePair{pub: pub, key: key}
	for i := range p.conns {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = c.Close() })
		p.conns[i], p.addrs[i] = c, c.LocalAddr().(*net.UDPAddr).AddrPort()
	}
	return p
}

func (p *barePair) send(from int) {
	content := make([]byte, 113)
	_, _ = p.conns[from].WriteToUDPAddrPort(append(content, ed25519.Sign(p.key, content)...), p.addrs[1-from])
}

func (p *barePair) receive(at int) bool {
	buf := p.bufs[at][:]
	n, _, err := p.conns[at].ReadFromUDPAddrPort(buf)
	return err == nil && ed25519.Verify(p.pub, buf[:n-ed25519.SignatureSize], buf[n-ed25519.SignatureSize:n])
}

func reportQuantiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2])/1e3, "p50-µs")
	b.ReportMetric(float64(took[len(took)*9/10])/1e3, "p90-µs")
}

package agent

import (
	"context"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/wire"
)

// BenchmarkGrant measures a grant and its release in a strict gate of three complete agents on loopback, from a
// caller's question until the grant is released: first at one member over and over, then at one member after the other,
// where the token has to come first. No process is started. Compare its p50 with that of BenchmarkThreeBareRoundTrips.
func BenchmarkGrant(b *testing.B) {
	for _, moves := range []strict.Moves{strict.Tree, strict.Ring} {
		for name, members := range map[string]int{"one member": 1, "in turn": 3} {
			b.Run(moves.String()+", "+name, func(b *testing.B) {
				agents := strictFleet(b, moves)
				grant := func(a *Agent) {
					if r, err := a.exec(b.Context(), control.ExecRequest{Command: "nothing"},
						startNothing); err != nil ||
						r.Err != nil {
						b.Fatal(err, r.Err)
					}
				}
				for _, a := range agents {
					grant(a)
				}
				var took []time.Duration
				for b.Loop() { // the fleet starts once: its first grant waits for a lease
					time.Sleep(benchSkip)
					begun := time.Now()
					grant(agents[len(took)%members])
					took = append(took, time.Since(begun))
				}
				reportQuantiles(b, took)
			})
		}
	}
}

// strictFleet starts three agents.
func strictFleet(b *testing.B, moves strict.Moves) (agents []*Agent) {
	b.Helper()
	names := []string{"a", "b", "c"}
	var join []string
	for _, name := range names {
		dir := b.TempDir()
		a, err := New(Config{
			Name: name, Bind: netip.MustParseAddrPort("127.0.0.1:0"), Join: join, StateDir: dir,
			Socket: filepath.Join(dir, "s"), Secret: &wire.Secret{1}, StopTimeout: time.Second, Log: zerolog.Nop(),
			Gates: []gate.Config{{
				Name: "default", HookTimeout: time.Hour, Roster: names,
				Protocol: strict.Settings{
					Moves: moves, Request: ring.Martin, Lease: 10 * time.Second, KillAfter: time.Second,
					Margin: hook.KillMargin, Rho: 0.01,
					Patience: time.Second, Backups: 1,
				},
			}},
		})
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { _ = a.Run(ctx) })
		b.Cleanup(func() {
			cancel()
			wg.Wait()
		})
		agents, join = append(agents, a), append(join, a.Addr().String())
	}
	return agents
}

// nothing is a command that has ended when it starts.
type nothing struct{ done chan hook.Result }

func startNothing(hook.Spec, time.Time) (gate.HookRun, error) {
	n := nothing{make(chan hook.Result, 1)}
	n.done <- hook.Result{}
	return n, nil
}

func (nothing) Stop()                      {}
func (nothing) Extend(time.Duration)       {}
func (nothing) PreSigned([]hook.Word)      {}
func (n nothing) Done() <-chan hook.Result { return n.done }

// BenchmarkThreeBareRoundTrips is the lower limit for comparison: six datagrams, signed and verified, between two bare
// sockets.
func BenchmarkThreeBareRoundTrips(b *testing.B) {
	p := newBarePair(b)
	go func() {
		for p.receive(1) {
			p.send(1)
		}
	}()
	var took []time.Duration
	for b.Loop() {
		time.Sleep(benchSkip)
		start := time.Now()
		for range 3 {
			p.send(0)
			if !p.receive(0) {
				b.Fatal("no answer")
			}
		}
		took = append(took, time.Since(start))
	}
	reportQuantiles(b, took)
}

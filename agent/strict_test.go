package agent

import (
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/wire"
)

// strictGates are the settings of strict gates that are silent at rest.
func strictGates() map[string]policy.Protocol {
	gates := map[string]policy.Protocol{}
	of := func(m strict.Moves, r ring.Request) strict.Settings {
		return strict.Settings{
			Moves: m, Request: r, Backups: 1, Lease: 8 * time.Second, KillAfter: time.Second,
			Margin: 100 * time.Millisecond, Rho: 0.01,
			Patience: 200 * time.Millisecond,
		}
	}
	gates["tree"] = of(strict.Tree, ring.Martin)
	for _, r := range ring.Requests() {
		if r != ring.Always {
			gates["ring, "+r.String()] = of(strict.Ring, r)
		}
	}
	return gates
}

// "An idle holder lets its lease go": at rest there is nothing on the wire but gossip, also while members come and go.
func TestAnIdleStrictGateSendsNothing(t *testing.T) {
	deep.Only(t, "a long time of many agents")
	for name, protocol := range strictGates() {
		t.Run(name, func(t *testing.T) {
			inStrictWorld(t, func(w *world) {
				w.strictly = protocol
				for _, name := range []string{"a", "b", "c"} {
					w.start(name, AloneWait)
				}
				w.until("all take part", time.Minute, func() bool { return len(w.participants()) == 3 })
				for _, name := range []string{"b", "a", "c"} {
					w.runsOn(name)
				}
				time.Sleep(time.Minute)
				var sent atomic.Int64
				w.net.SetFilter(func(_, _ netip.AddrPort, payload []byte) bool {
					if class, _, _ := wire.Classify(payload); class != wire.ClassGossip {
						sent.Add(1)
					}
					return true
				})
				time.Sleep(10 * time.Minute)
				if n := sent.Load(); n > 0 {
					t.Errorf("%d datagrams in ten minutes", n)
				}
				w.runsOn("b")
				if sent.Load() == 0 {
					t.Error("the datagrams of a run are not seen")
				}
			}, "a", "b", "c")
		})
	}
}

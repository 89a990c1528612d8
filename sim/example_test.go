package sim_test

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// relay is the smallest protocol: the first member runs, and then tells the next one to run. If a message is lost, no
// member runs any more.
type relay struct {
	self  wire.MemberID
	peers []wire.MemberID
}

func (r *relay) Step(_ policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	switch ev.Kind {
	case policy.PeersChanged:
		first := r.peers == nil && len(ev.Peers) > 0 && ev.Peers[0] == r.self
		r.peers = ev.Peers
		if first {
			out = append(out, policy.Effect{Kind: policy.Run})
		}
	case policy.Received:
		out = append(out, policy.Effect{Kind: policy.Run})
	case policy.Finished:
		for i, peer := range r.peers {
			if peer == r.self {
				next := r.peers[(i+1)%len(r.peers)]
				out = append(out, policy.Effect{Kind: policy.Send, Msg: wire.Message{Kind: 1, From: r.self, To: next}})
			}
		}
	case policy.Started, policy.Saved, policy.Soaks, policy.Wanted, policy.Unwanted, policy.Suspended,
		policy.Directed, policy.Renew, policy.Leave, policy.Woke:
		// The smallest protocol saves nothing, waits for nothing, and obeys nobody.
	}
	return out
}

func (r *relay) NextWake() (policy.Time, bool)                        { return 0, false }
func (r *relay) Expects(*wire.Message) bool                           { return true }
func (r *relay) Status(policy.Time) policy.Status                     { return policy.Status{} }
func (r *relay) Facts(_ policy.Time, out []policy.Fact) []policy.Fact { return out }
func (r *relay) String() string                                       { return "relay" }

// Three members run a protocol in virtual time, and a watcher prints their runs.
func Example() {
	world := sim.New(sim.Config{
		Seed: 1, Members: 3, Order: sim.InOrder,
		Descriptor: policy.Descriptor{ID: 7, Kinds: policy.Kinds{{Kind: 1, Name: "Go", Part: policy.Passes}}},
		Machine:    func(s sim.Env) policy.Machine { return &relay{self: s.Self} },
		Network:    sim.Network{Latency: 50 * time.Millisecond},
		Membership: sim.Membership{Perfect: true},
		Hook:       sim.Hook{Takes: time.Second},
		Watchers: []sim.Watcher{sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
			for range o.Did(policy.Run) {
				fmt.Println(time.Duration(o.At), o.Who(), "runs")
			}
			return nil
		})},
	})
	world.Boot()
	if err := world.Run(policy.Time(4 * time.Second)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 0s a runs
	// 1.05s b runs
	// 2.1s c runs
	// 3.15s a runs
}

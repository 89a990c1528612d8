package kcopies

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies/transpeer"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// Load is what the clients of a ring of routers submit.
type Load struct {
	// Transactions come at intervals of Every, and a router takes Service for each while it holds the token.
	Transactions   int
	Every, Service time.Duration
	// Fail are the routers that crash "upon receiving their 5th transaction" (section 3.4); FailAt is that number.
	Fail   []int
	FailAt int
}

// Answers is the outcome of the transactions.
type Answers struct {
	// Took is how long each transaction took, from its first submission to its answer; 0 if it was not answered.
	Took     []time.Duration
	Answered int
	// Again is how many submissions were repeated because their router had crashed. Crashed is how many routers did.
	Again, Crashed int
	// History is how many transactions are in the history that the last holder knows.
	History int
}

// Routers makes a ring of routers, and their clients. The clients are the last member of the cluster and no part of the
// ring.
func (w *World) Routers(load Load, watchers ...sim.Watcher) (*sim.Cluster, *transpeer.Client) {
	ring := w.ring()
	client := transpeer.NewClient(transpeer.ClientConfig{
		Gate: ring[0].Gate, Self: sim.Identity(sim.InOrder, w.Seed, w.Members), Routers: ring[0].Ring,
		Transactions: load.Transactions, Every: load.Every,
	})
	return w.cluster(transpeer.Descriptor(), 1, func(env sim.Env) policy.Machine {
		if env.Index == w.Members {
			return client
		}
		return transpeer.NewRouter(ring[env.Index], load.Service)
	}, watchers), client
}

// Transpeer lets a ring of routers perform the transactions of its clients.
func (w *World) Transpeer(ctx context.Context, load Load, watchers ...sim.Watcher) (Answers, error) {
	var a Answers
	c, client := w.Routers(load, append(watchers, load.fails(&a), NewProof(w))...)
	err := w.Live(ctx, c)
	a.Took, a.Answered = client.Took()
	var last wire.Seq
	for i := range w.Members {
		if r, ok := c.Machine(i).(*transpeer.Router); ok && c.Up(i) && r.KCopies().Count() >= last {
			last = r.KCopies().Count()
			a.History = max(a.History, r.History().Len())
		}
	}
	if err == nil && a.Answered != load.Transactions {
		err = fmt.Errorf("transpeer: %d of %d transactions were answered", a.Answered, load.Transactions)
	}
	return a, err
}

// fails makes the routers in Fail crash when they receive their FailAt-th transaction, and counts the consequences.
func (l *Load) fails(a *Answers) sim.Watcher {
	received := map[int]int{}
	return sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
		for e := range o.Did(policy.Tell) {
			if e.Note == transpeer.NoteAgain {
				a.Again++
			}
		}
		if !o.On(policy.Received) || o.Event.Msg.Kind != transpeer.KindTransaction {
			return nil
		}
		who := o.Member
		if received[who]++; received[who] == l.FailAt && slices.Contains(l.Fail, who) {
			a.Crashed++
			c.After(0, func() { c.Crash(who) })
		}
		return nil
	})
}

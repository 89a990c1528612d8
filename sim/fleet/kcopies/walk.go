package kcopies

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies/lelann"
	"github.com/wanderd/wanderd/sim"
)

// Fate is what became of a token after some members crashed at once.
type Fate uint8

const (
	// Survives: the token has been at every living member since.
	Survives Fate = iota
	// LostEventually: the token was there after the crashes, walked on, and met more than k dead members in a row.
	LostEventually
	// LostAtOnce: the holder of the token and the members with the k copies were all among the crashed.
	LostAtOnce
)

// LeLann makes a Le Lann ring.
func (w *World) LeLann(watchers ...sim.Watcher) *sim.Cluster {
	ring := w.ring()
	return w.cluster(lelann.Descriptor(), 0, func(env sim.Env) policy.Machine {
		return lelann.New(ring[env.Index])
	}, watchers)
}

// Walk lets members of a Le Lann ring crash at one moment, and then lets the token walk round. Its first holder is
// member 1, which is to receive the token at that moment; the copies are on their way.
func (w *World) Walk(crashed []int) (Fate, error) {
	// last is when a member last took the token.
	last := policy.Time(0)
	c := w.LeLann(sim.WatcherFunc(func(_ *sim.Cluster, o *sim.Occurrence) error {
		if o.Does(policy.Took) {
			last = o.At
		}
		return nil
	}))
	c.Boot()
	at := policy.Time(w.Latency / 2)
	c.At(at, func() {
		for _, i := range crashed {
			c.Crash(i)
		}
	})
	end := at.Add(w.Detect + time.Duration(w.Members+3)*w.Latency)
	if err := c.Run(end); err != nil {
		return 0, err
	}
	switch {
	case last <= at:
		return LostAtOnce, nil
	// All members know of the crashes by now. If there is a token, a member takes it after every latency.
	case end.Sub(last) > 2*w.Latency:
		return LostEventually, nil
	}
	return Survives, nil
}

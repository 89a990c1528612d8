package call

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/sim"
)

// newLostChecker checks what becomes of a run whose token turns out to have another holder. If the operator has chosen
// so, the run is stopped in the same step; otherwise nothing but a graceful stop of the agent stops it.
func newLostChecker(choice soft.OnLost) sim.Watcher {
	type life struct {
		running bool
		held    int
	}
	return sim.EachLife(func(me *life, _ *sim.Cluster, o *sim.Occurrence) error {
		me.running = me.running && !o.EndsRun()
		before := me.held
		for i := range o.Effects {
			switch o.Effects[i].Kind {
			case policy.Took:
				me.held++
			case policy.Gave:
				me.held--
			case policy.Send, policy.Run, policy.Save, policy.Extend, policy.Stop, policy.PreSign, policy.Announce,
				policy.Proclaim, policy.Tell, policy.Gone:
			}
		}
		lost, stopped := me.running && me.held < before, o.Does(policy.Stop)
		switch {
		case lost && choice == soft.Stop && !stopped && o.Completes():
			return fmt.Errorf("lost: %s has lost the token of its run, and does not stop it", o.Who())
		case me.running && stopped && !o.On(policy.Leave) && (choice == soft.Finish || !lost):
			return fmt.Errorf("lost: %s stops a run, although it has lost no token, or lets runs finish", o.Who())
		}
		me.running = me.running || o.Does(policy.Run)
		return nil
	})
}

// overlaps measures for how long two runs go on beside each other, of members that are there. It is a [sim.Watcher].
type overlaps struct {
	// from is when it begins to measure.
	from  policy.Time
	began map[int]policy.Time
	// longest is the longest of these times.
	longest time.Duration
}

// Watch implements [sim.Watcher].
func (k *overlaps) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	present, since := 0, k.from
	for i, at := range k.began {
		if away := c.AwayUntil(i); c.Up(i) && away <= o.At {
			present, since = present+1, max(since, at, away)
		}
	}
	if present > 1 {
		k.longest = max(k.longest, o.At.Sub(since))
	}
	if o.EndsRun() {
		delete(k.began, o.Member)
	}
	if o.Does(policy.Run) {
		if k.began == nil {
			k.began = map[int]policy.Time{}
		}
		k.began[o.Member] = o.At
	}
	return nil
}

package call

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// Victims are the members that lose their power at once.
type Victims uint8

const (
	// Holder is the member at which the token rests.
	Holder Victims = iota
	// FirstHome is its first guardian.
	FirstHome
	// HolderAndHomes are the holder and all its guardians.
	HolderAndHomes
)

// CallAfter kills victims while the token rests, and returns how long another member waits that calls a quarter of a
// skip later. It returns [math.MaxInt64] if that is more than an hour.
func (s *Scenario) CallAfter(ctx context.Context, dead Victims, watchers ...sim.Watcher) (time.Duration, error) {
	idle := *s
	idle.Demand, idle.OnDemand = sim.Demand{}, true
	m := &Meter{}
	c := idle.NewCluster(append(watchers, m)...)
	idle.start(c)
	run := func(d time.Duration) error {
		_, err := c.RunFor(ctx, c.Now().Add(d), nil)
		return err
	}
	settled := 20 * max(s.Skip, time.Second)
	if err := run(settled); err != nil {
		return 0, err
	}
	holder := int(s.Seed) % s.Members
	c.Want(holder)
	if err := run(s.Hook.Longest() + settled); err != nil {
		return 0, err
	}
	victims, homes := []int{holder}, []int{}
	for _, f := range c.Machine(holder).Facts(c.Now(), nil) {
		if f.Key == policy.KeyGuardian {
			homes = append(homes, sim.IndexOf(f.Member))
		}
	}
	switch dead {
	case Holder:
	case FirstHome:
		victims = homes[:min(1, len(homes))]
	case HolderAndHomes:
		victims = append(victims, homes...)
	}
	for _, i := range victims {
		c.PowerCut(i)
	}
	if err := run(s.Skip / 4); err != nil {
		return 0, err
	}
	caller := holder
	for caller == holder || slices.Contains(victims, caller) || slices.Contains(homes, caller) {
		if caller = (caller + 1) % s.Members; caller == holder {
			return math.MaxInt64, nil // Nobody is left who could call.
		}
	}
	m.Reset()
	c.Want(caller)
	for end := c.Now().Add(time.Hour); c.Now() < end && len(m.Waits) == 0; {
		if err := run(time.Minute); err != nil {
			return 0, err
		}
	}
	if len(m.Waits) == 0 {
		return math.MaxInt64, nil
	}
	return m.Waits[0], nil
}

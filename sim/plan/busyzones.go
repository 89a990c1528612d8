package plan

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// zoneWait is how long a token waits with a host whose zone is busy: the agent's default of with_wait.
const zoneWait = time.Minute

// busyZones are the zones of a simulated release. As the agent does it, a run that has its token takes a place in the
// zone of its host, in turn; if it gets none in time, it is put off for half that time up to all of it, and the token
// goes on. A zone's places are given at once: the round trips of its gate are short beside a run.
type busyZones struct {
	c    *sim.Cluster
	dice *rand.Rand
	// of is the zone of each member, and free how many more may run in each zone.
	of, free []int
	// queues are those that wait in each zone, since is when they began to, putOff whose runs are put off.
	queues [][]int
	since  []policy.Time
	putOff []bool
	// waited is for how long tokens have waited, and puts how many runs were put off.
	waited time.Duration
	puts   int
}

// newBusyZones returns the zones of a request, over which the members in this order are spread evenly; nil if there are
// none.
func newBusyZones(w *Request, dice *rand.Rand, order []int) *busyZones {
	if w.Zones == 0 {
		return nil
	}
	z := &busyZones{
		dice: dice, of: make([]int, w.Members), free: make([]int, w.Zones), queues: make([][]int, w.Zones),
		since: make([]policy.Time, w.Members), putOff: make([]bool, w.Members),
	}
	for at, i := range order {
		z.of[i] = at % w.Zones
	}
	for zone := range z.free {
		z.free[zone] = w.PerZone
	}
	return z
}

// enter takes a place for a run that begins, and reports whether it may go on. If not, it waits: givesUp is
// called when it has waited for too long, and tries when it may try again.
func (z *busyZones) enter(c *sim.Cluster, i int, givesUp, tries func(i int)) bool {
	zone := z.of[i]
	if z.c = c; z.free[zone] > 0 {
		z.free[zone]--
		return true
	}
	since := c.Now()
	z.queues[zone], z.since[i] = append(z.queues[zone], i), since
	c.Prolong(i, zoneWait)
	c.After(zoneWait, func() {
		at := slices.Index(z.queues[zone], i)
		if at < 0 || z.since[i] != since {
			return
		}
		z.queues[zone] = slices.Delete(z.queues[zone], at, at+1)
		z.waited += zoneWait
		z.puts++
		z.putOff[i] = true
		givesUp(i)
		c.Deny(i)
		c.After(zoneWait/2+time.Duration(z.dice.Int64N(int64(zoneWait/2))), func() {
			z.putOff[i] = false
			tries(i)
		})
	})
	return false
}

// leave gives the place of a run that has ended to the next one, if one waits, whose run begins now.
func (z *busyZones) leave(i int) (next int, ok bool) {
	zone := z.of[i]
	if len(z.queues[zone]) == 0 {
		z.free[zone]++
		return 0, false
	}
	next = z.queues[zone][0]
	z.queues[zone] = slices.Delete(z.queues[zone], 0, 1)
	had := z.c.Now().Sub(z.since[next])
	z.waited += had
	z.c.Prolong(next, had-zoneWait) // It takes as long as any other, from now on.
	return next, true
}

package plan

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/measure"
)

// aftermath is what happened after a token was lost with its holder. Times are in seconds from the loss.
type aftermath struct {
	// happened is true if a token was lost.
	happened bool
	// silence is the time until there is a token of each slot again; recovery is the time until there is exactly one of
	// each for good. They are NaN if the work ended before.
	silence, recovery measure.Number
	// crowd is the greatest number of operations at once.
	crowd int
}

// quietWaits is for how many mean waits there must be exactly one token to end the recovery: it has then visited nearly
// all members, and few are left that could make another one.
const quietWaits = 3

// anyMoment draws the time until the loss, so that the loss may come at any moment of an interval. In a sweep the
// measurement always ends at the same moment of one.
func (f *fleet) anyMoment(seed uint64) time.Duration {
	if f.constants.Walk != wander.Sweep {
		return 0
	}
	dice := rand.New(rand.NewPCG(seed, 0x6c6f7373))
	return seconds(dice.Float64() * f.theory.interval(f.busy()))
}

// loseToken kills the holders of a token of the first slot, and watches the recovery. It polls for the end of the
// recovery.
func (f *fleet) loseToken(c *sim.Cluster, meter *measure.Meter, pollEvery time.Duration) (aftermath, error) {
	holders := f.holders(c)
	if len(holders) == 0 {
		return aftermath{}, nil
	}
	lostAt := c.Now()
	meter.Begin(lostAt)
	for _, i := range holders {
		c.Crash(i)
	}
	lasts := min(seconds(10*f.maxInterval().Seconds()), longestRun)
	var err error
	for end := lostAt.Add(lasts); err == nil && c.Now() < end && !meter.Stable(c.Now()); {
		err = c.Run(c.Now().Add(pollEvery))
	}
	figures := meter.Figures(c.Now())
	a := aftermath{happened: true, silence: figures.Tokenless.Max, recovery: figures.Recovery.Max}
	a.crowd = int(figures.Concurrency[len(figures.Concurrency)-1].Key)
	return a, err
}

// spreadLives draws how long ago each member ran last, except the one that makes the token. Few members are due, so the
// token soon moves.
func (f *fleet) spreadLives(dice *rand.Rand) []time.Duration {
	lives := make([]time.Duration, f.members)
	for i := 1; i < f.members; i++ {
		lives[i] = 1 + time.Duration(dice.Float64()*float64(f.constants.MinInterval))
	}
	return lives
}

// killHolder starts a fleet with guardians, kills the holder at any moment after the first hop, and watches the
// recovery for at most that many steps.
func (f *fleet) killHolder(ctx context.Context, seed, budget uint64) (run, error) {
	g := *f
	g.guarded = true
	settled := quietPatiences * patience(&g.constants)
	meter := measure.New(measure.Config{Members: g.members, Slots: g.constants.Slots, Quiet: settled})
	dice := rand.New(rand.NewPCG(seed, 0x67756172))
	c := g.world(seed, g.spreadLives(dice), meter, within(ctx, &budget))
	firstRun := (1 + opSpread) * f.constants.Op.Seconds()
	err := c.Run(policy.Time(seconds(firstRun + dice.Float64()*settled.Seconds())))
	r := run{}
	if err == nil {
		r.loss, err = g.loseToken(c, meter, patience(&g.constants))
	}
	r.steps = c.Steps()
	return r, err
}

// holders returns the holders of a token of the first slot. It waits for the end of a handoff.
func (f *fleet) holders(c *sim.Cluster) []int {
	for range 100 {
		var holders []int
		for i := range c.Members() {
			if c.Up(i) && c.Status(i).Holding {
				holders = append(holders, i)
			}
		}
		if len(holders) > 0 || c.Run(c.Now().Add(max(f.request.latency(), time.Millisecond))) != nil {
			return holders
		}
	}
	return nil
}

// lossOf summarises what followed after a holder was killed, in all seeds.
func lossOf(w *Request, k *Constants, runs []run) Loss {
	var silences, recoveries []float64
	l := Loss{ShortestMaxInterval: max(k.MinInterval, quietInterval(w, k)).Seconds()}
	for i := range runs {
		a := &runs[i].loss
		// If no member has run, some members have never met a token: that shows the start of a fleet, not a loss.
		// Guardians have met it.
		if !a.happened || k.Backups == 0 && len(runs[i].waits) == 0 || math.IsNaN(float64(a.silence)) {
			continue
		}
		l.Samples++
		l.Crowd = max(l.Crowd, a.crowd)
		silences = append(silences, float64(a.silence))
		if !math.IsNaN(float64(a.recovery)) {
			recoveries = append(recoveries, float64(a.recovery))
		}
	}
	slices.Sort(silences)
	slices.Sort(recoveries)
	silence, recovery := quantiles(silences), quantiles(recoveries)
	l.Silence, l.LongestSilence = silence.P50, silence.Longest
	l.Recovered, l.Recovery = len(recoveries), recovery.P50
	return l
}

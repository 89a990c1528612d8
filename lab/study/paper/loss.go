package paper

import (
	"context"
	"slices"
	"time"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/measure"
)

// settled is when the token is lost in a run: long after the effects of the start.
const settled = 20_000 * time.Second

// stabilisationLimit is the time for which a fleet is watched after the loss of its token.
const stabilisationLimit = 200_000 * time.Second

// transient is the result of the loss of the only token.
type transient struct {
	// stable is, for each of [quietTimes], the time from the loss until the fleet was stable again. It is negative if
	// that was not within the limit.
	stable []time.Duration
	// busy is how much operation time there was in each second after the loss, in seconds. The figures are those from
	// the loss until the fleet was stable by the ruling, the last of [quietTimes].
	busy    []float64
	figures measure.Figures
}

// quietTimes returns several times. For each, a fleet counts as stable when there has been exactly one token for that
// long. The paper does not define it; Δmax is the ruling, and the others show how much depends on it.
func quietTimes() []time.Duration {
	return []time.Duration{study.MinInterval / 2, study.MinInterval, study.MaxInterval}
}

// ruling is the index of the ruling in [quietTimes].
const ruling = 2

// loseToken runs the fleet until all Commits of a handoff are lost at a moment when no other member holds a token. From
// there it runs it until every notion of stable is satisfied, for least to most.
func loseToken(ctx context.Context, members int, seed uint64, least, most time.Duration) (transient, error) {
	during := measure.New(measure.Config{Members: members, Quiet: study.MaxInterval, Unit: time.Second})
	watchers := []sim.Watcher{during}
	var meters []*measure.Meter
	t := transient{}
	for _, quiet := range quietTimes() {
		m := measure.New(measure.Config{Members: members, Quiet: quiet})
		meters, watchers, t.stable = append(meters, m), append(watchers, m), append(t.stable, -1)
	}
	c := newCluster(members, seed, watchers...)
	if _, err := c.RunFor(ctx, policy.Time(settled), nil); err != nil {
		return transient{}, err
	}
	lostAt := policy.Never
	c.LoseNext(func() { lostAt = c.Now() })
	for lostAt == policy.Never {
		if _, err := c.RunFor(ctx, c.Now().Add(study.Skip), nil); err != nil {
			return transient{}, err
		}
	}
	during.Begin(c.Now())
	over := false
	for c.Now() < lostAt.Add(most) && (!over || c.Now() < lostAt.Add(least)) {
		if _, err := c.RunFor(ctx, c.Now().Add(study.MinInterval), nil); err != nil {
			return t, err
		}
		for i, m := range meters {
			if r := m.Recoveries(c.Now()); len(r) > 0 {
				t.stable[i] = r[0]
			}
		}
		if !over {
			over = slices.Min(t.stable) >= 0
			t.figures = during.Figures(c.Now())
		}
	}
	for _, b := range during.Busy(c.Now()) {
		t.busy = append(t.busy, b.Seconds())
	}
	return t, nil
}

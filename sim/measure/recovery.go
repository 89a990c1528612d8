package measure

import (
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"github.com/wanderd/wanderd/policy"
)

// recovery measures for how long a fleet has no token, or none of a slot, and how long it takes until it is stable
// again. A recovery that is not over does not count.
type recovery struct {
	// quiet is how long there must be one token for the fleet to be stable: Δmax.
	quiet time.Duration
	// tokens is how many tokens each slot has, as custody counts them, and since when.
	tokens int
	since  policy.Time
	// none is true while the fleet has no token; it has had none since noneSince. unstable is true if it lost its last
	// token, at lostAt, and has not been stable since.
	none, unstable    bool
	noneSince, lostAt policy.Time
	// tokenless has the times "until the next token exists". stabilised has the times "from the loss until the moment
	// from which exactly one token exists for at least Δmax".
	tokenless, stabilised []time.Duration
}

// set records the number of tokens, and when the last one died. That may become known only later.
func (r *recovery) set(now policy.Time, tokens int, died policy.Time) {
	if tokens == r.tokens {
		return
	}
	r.settle(now)
	switch {
	case tokens == 0:
		r.none, r.noneSince = true, max(died, r.since)
		if !r.unstable {
			r.unstable, r.lostAt = true, r.noneSince
		}
	case r.none:
		r.none = false
		r.tokenless = append(r.tokenless, now.Sub(r.noneSince))
	}
	r.tokens, r.since = tokens, now
}

// settle ends the recovery if the fleet has been stable since the number of tokens last changed.
func (r *recovery) settle(now policy.Time) {
	if r.unstable && r.stable(now) {
		r.unstable = false
		r.stabilised = append(r.stabilised, r.since.Sub(r.lostAt))
	}
}

// stable reports whether there has been exactly one token for long enough.
func (r *recovery) stable(now policy.Time) bool { return r.tokens == 1 && now.Sub(r.since) >= r.quiet }

// begin forgets everything before now, including a recovery in progress: its loss was not measured.
func (r *recovery) begin() {
	r.none, r.unstable = false, false
	r.tokenless, r.stabilised = r.tokenless[:0], r.stabilised[:0]
}

// SpreadOf returns the distribution of some times. Its quantiles are NaN if there are none.
func SpreadOf(samples []time.Duration) Spread[Number] {
	none := Number(math.NaN())
	f := Spread[Number]{Count: Number(len(samples)), P50: none, P90: none, Max: none}
	if len(samples) == 0 {
		return f
	}
	sorted := make([]float64, len(samples))
	for i, t := range samples {
		sorted[i] = t.Seconds()
	}
	slices.Sort(sorted)
	f.P50 = Number(stat.Quantile(0.5, stat.Empirical, sorted, nil))
	f.P90 = Number(stat.Quantile(0.9, stat.Empirical, sorted, nil))
	f.Max = Number(sorted[len(sorted)-1])
	return f
}

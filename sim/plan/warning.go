package plan

import (
	"fmt"

	"github.com/wanderd/wanderd/policy/wander"
)

const (
	// irregular times every is the longest 99th percentile of intervals without a warning.
	irregular = 1.5
	// tardy times every is the longest mean interval of a request that is met.
	tardy = 1.05

	secondsPerDay = 24 * 60 * 60
)

// late reports whether members ran less often than requested in the simulation.
func (a *Result) late() bool {
	mean := a.Expected.Interval.Mean
	return !a.Expected.FromTheory && float64(mean.Mean-mean.Half) > tardy*a.Request.Every.Seconds()
}

// warnings returns what the operator probably does not want. fits is true if load and walk leave room for the request.
func warnings(a *Result, fits bool) []string {
	all := []string{}
	warn := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	every := a.Request.Every.Seconds()
	instead := fmt.Sprintf("members run every %s instead of every %s", number(a.Expected.Interval.Mean.Mean),
		written(a.Request.Every))
	lost := float64(a.Expected.Lost.Mean)
	switch {
	case !fits && a.Load >= 1:
		warn("the load is %.2f, and above 1 there is not enough time for the runs: %s", a.Load, instead)
	case !fits:
		warn("the token takes too long from one member to the next: every has %s for each member, op takes %s of "+
			"that, and "+
			"the rest is too little for the walk: %s",
			spoken(every*float64(a.Request.slots())/float64(a.Request.Members)), written(a.Request.Op), instead)
	case a.late() && lost > 0:
		until := "there is a new one"
		if a.Constants.Backups > 0 {
			until = "a guardian revives it"
		}
		warn("the network loses a token every %s, and nobody runs until %s: %s; %s", spoken(secondsPerDay/lost), until,
			instead, moreTime)
	case a.late():
		warn("the simulation is slower than theory predicts: %s", instead)
	case a.Constants.Backups == 0 && lost*every > secondsPerDay/10:
		warn("the network loses a token every %s; guardians (backups above 0) would revive it, and %s",
			spoken(secondsPerDay/lost), moreTime)
	}
	if !a.Zones.suffice() {
		warn("the load of a zone is %.2f, and above 1 there is not enough time for the runs of its hosts: raise "+
			"per_zone or the number of zones", a.Zones.Load)
	}
	if skip, trip := a.Constants.Skip, 2*a.Request.latency(); wander.TooShort(skip, trip) {
		warn("a skip of %s is too short for round trips of %s: handoffs, and the recovery from a loss, wait for "+
			"them; the least that fits is %s",
			written(skip), written(trip), written(wander.LeastSkip(trip)))
	}
	if fits {
		irregularity(a, warn)
	}
	if !a.Constants.DefaultMaxInterval {
		warn("max_interval is longer than the default rule makes it: by that rule the walk alone would make members " +
			"take " +
			"the token for lost more than once in every")
	}
	return all
}

const moreTime = "with a longer skip a handoff has more time to repeat its messages"

func irregularity(a *Result, warn func(format string, args ...any)) {
	every, skip, shorter := a.Request.Every.Seconds(), a.Constants.Skip, recommendSkip(&a.Request)
	if now := waits(&a.Request, skip); shorter < skip && now > shortWait*every {
		warn("with a skip of %s members wait %s for the token on average; with %s it is %s",
			written(skip), spoken(now), written(shorter), spoken(waits(&a.Request, shorter)))
		return
	}
	if p99 := float64(a.Expected.Interval.P99); p99 > irregular*every && !a.late() {
		warn("one interval in a hundred is longer than %s: the walk is random, and every %s holds on average only; "+
			"fewer members, a shorter op or a longer every make it more regular", spoken(p99), written(a.Request.Every))
	}
}

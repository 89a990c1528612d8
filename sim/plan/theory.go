package plan

import (
	"math"
	"time"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/wanderd/wanderd/policy/wander"
)

// theory is what can be said of a fleet without simulating it: a mean field, good for ten members or more for each token. Times
// are in seconds.
//
// How long a member that is due waits for the token is a number of hops, which depends on the walk alone; and so everything
// follows from the mean time between two hops. For the paper's fleet (a random walk, skip 1, op 4, min_interval 600, 150
// members) it is the equation h = (1+3h)/(5+3h) for the share h of visits that find a member due.
type theory struct {
	walk    wander.Walk
	members float64
	// slots is how many tokens there are.
	slots float64
	skip  float64
	op    float64
	// handoff is how long Token, Ack and Commit are under way, in which nobody holds the token.
	handoff float64
}

func newTheory(w *Wish, members int, skip time.Duration) theory {
	return theory{
		walk: w.Walk, members: float64(members), slots: float64(w.slots()), skip: skip.Seconds(), op: w.Op.Seconds(),
		handoff: handoffTime(w.latency()).Seconds(),
	}
}

// handoffTime is how long the three messages of a handoff take: "it is composed of three successive messages"
// (Ciuffoletti, section 4).
func handoffTime(latency time.Duration) time.Duration { return 3 * latency }

// load is the share of time for which each token would be in use if every member ran once in every interval:
// op × members / (interval × slots).
func (t theory) load(interval float64) float64 { return t.members * t.op / (interval * t.slots) }

// heaviest is the load of the token that has most to do: in a sweep the tokens share the members, and they may not be as many
// for each.
func (t theory) heaviest(interval float64) float64 {
	if t.walk == wander.Sweep {
		return math.Ceil(t.members/t.slots) * t.op / interval
	}
	return t.load(interval)
}

// fullest is the greatest share of time for which a token can be in use: between two runs there is a handoff.
func (t theory) fullest() float64 { return t.op / (t.op + t.handoff) }

// hop is the mean time between two hops of a token that is in use for a share of the time: one part of it goes into runs and
// the handoffs after them, and what is left into resting for skip.
func (t theory) hop(busy float64) float64 {
	runs := busy / t.op
	rests := max(0, 1-runs*(t.op+t.handoff)) / (t.skip + t.handoff)
	return 1 / (runs + rests)
}

// hopsToWait is how many hops of a token a member waits that becomes due at a random moment, for any of them. On average a token
// comes back after as many hops as there are members, N; what counts is what is left of a return, E[X²] / 2 E[X].
func (t theory) hopsToWait() float64 {
	n := t.members
	switch t.walk {
	case wander.Random: // X is two or more, each as likely to be the last; of several tokens, each may be the first
		return (n - 1.5 + 1/n) / t.slots
	case wander.Shuffle: // X is N and the difference of two places in orders of N
		return n * leftOfShuffles(t.slots)
	case wander.Sweep:
		// A member that will be due within a lap keeps the token until then. So after an interval or two the members become
		// due in the order in which the token comes, and nobody waits as long as there is time left.
		return 0
	}
	return math.NaN()
}

// leftOfShuffles is what is left, in laps, until the first of so many tokens comes that are shuffled independently: of one, 7/12.
// The return of a token is the sum of what is left of a lap and of a part of the next one, and more than x of it is left with the
// chance 1 − x + x³/6 up to a lap, and (2 − x)³/6 up to two.
func leftOfShuffles(tokens float64) float64 {
	first := quad.Fixed(func(x float64) float64 { return math.Pow(1-x+x*x*x/6, tokens) }, 0, 1, 32, nil, 0)
	return first + math.Pow(6, -tokens)/(3*tokens+1)
}

// wait is the mean time from when a member becomes due to when it runs; infinite if the tokens cannot be as busy as that.
func (t theory) wait(busy float64) float64 {
	if busy > t.fullest() {
		return math.Inf(1)
	}
	return t.hopsToWait() * t.hop(busy)
}

// straying is how long a member waits that is out of turn, having just come: half a lap of a sweep.
func (t theory) straying(busy float64) float64 {
	if t.walk == wander.Sweep && busy <= t.fullest() {
		return t.lap(busy) / 2
	}
	return t.wait(busy)
}

// busy is the share of time for which a token is in use, if members become due minInterval after their last run. It solves
//
//	members × op / (busy × slots) = minInterval + wait(busy)
//
// whose sides are two ways to say how far apart the runs of a member are. One falls and the other rises with busy.
func (t theory) busy(minInterval float64) float64 {
	low, high := 0.0, t.fullest()
	for range 100 {
		middle := (low + high) / 2
		if t.interval(middle) > minInterval+t.wait(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// interval is the mean time between two runs of a member in a fleet whose tokens are in use for a share of the time.
func (t theory) interval(busy float64) float64 { return t.members * t.op / (busy * t.slots) }

// lap is how long it takes until a token has been everywhere: on a random walk members × ln members hops of all tokens together.
// Otherwise it is as many of one token as there are members; in a sweep the tokens share these.
func (t theory) lap(busy float64) float64 {
	hops := t.members
	switch t.walk {
	case wander.Random:
		hops *= math.Log(t.members) / t.slots
	case wander.Sweep:
		hops /= t.slots
	case wander.Shuffle:
	}
	return hops * t.hop(busy)
}

// silence is how long one token stays away from a member about once in so long a time. On a random walk the silences are
// distributed exponentially, with a mean of members × hop, and there is one for each hop. Otherwise none is longer than two
// laps, in which everybody may run.
func (t theory) silence(busy, once float64) float64 {
	slowest := t.op + t.skip + 2*t.handoff
	switch t.walk {
	case wander.Sweep:
		return 2 * t.members / t.slots * slowest
	case wander.Shuffle:
		return 2 * t.members * slowest
	case wander.Random:
	}
	hop := t.hop(busy)
	return t.members * hop * math.Log(max(once/hop, math.E))
}

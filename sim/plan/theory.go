package plan

import (
	"math"
	"time"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/wanderd/wanderd/policy/wander"
)

// theory is a closed form for a fleet: a mean field, good for ten members or more for each token. Times are in seconds.
//
// A member that is due waits for a number of hops, which depends on the walk alone. So all else follows from the mean
// time between two hops. For the paper's fleet (random walk, skip 1, op 4, min_interval 600, 150 members) it is the
// equation h = (1+3h)/(5+3h) for the share h of visits that find a member due.
type theory struct {
	walk    wander.Walk
	members float64
	// slots is the number of tokens.
	slots float64
	skip  float64
	op    float64
	// handoff is the time that Token, Ack and Commit take. Meanwhile no member holds the token.
	handoff float64
}

func newTheory(w *Request, members int, skip time.Duration) theory {
	return theory{
		walk: w.Walk, members: float64(members), slots: float64(w.slots()), skip: skip.Seconds(), op: w.Op.Seconds(),
		handoff: handoffTime(w.latency()).Seconds(),
	}
}

// handoffTime returns the time of a handoff: "it is composed of three successive messages" (Ciuffoletti, section 4).
func handoffTime(latency time.Duration) time.Duration { return 3 * latency }

// load returns the share of time for which each token would be in use if every member ran once in every interval: op ×
// members / (interval × slots).
func (t theory) load(interval float64) float64 { return t.members * t.op / (interval * t.slots) }

// heaviest returns the load of the busiest token: in a sweep the tokens share the members, perhaps unevenly.
func (t theory) heaviest(interval float64) float64 {
	if t.walk == wander.Sweep {
		return math.Ceil(t.members/t.slots) * t.op / interval
	}
	return t.load(interval)
}

// fullest returns the greatest share of time for which a token can be in use: a handoff comes between two runs.
func (t theory) fullest() float64 { return t.op / (t.op + t.handoff) }

// hop returns the mean time between two hops of a token that is in use for the share busy of the time. Runs and the
// handoffs after them take part of the time; in the rest the token rests for skip.
func (t theory) hop(busy float64) float64 {
	runs := busy / t.op
	rests := max(0, 1-runs*(t.op+t.handoff)) / (t.skip + t.handoff)
	return 1 / (runs + rests)
}

// hopsToWait returns the mean number of hops that a member waits for any token, if it becomes due at a random moment. A
// token returns after N hops on average, N being the number of members; the wait is the rest of a return X, E[X²] / 2
// E[X].
func (t theory) hopsToWait() float64 {
	n := t.members
	switch t.walk {
	case wander.Random: // X is at least two, and geometric; with several tokens, any may come first
		return (n - 1.5 + 1/n) / t.slots
	case wander.Shuffle: // X is N plus the difference of two places in orders of N
		return n * leftOfShuffles(t.slots)
	case wander.Sweep:
		// A member that will be due within a lap keeps the token until then. So after an interval or two, members
		// become due in the order of the token's visits, and no member waits while the load is below 1.
		return 0
	}
	return math.NaN()
}

// leftOfShuffles returns the mean time, in laps, until the first of that many independently shuffled tokens comes: 7/12
// for one. A return is the rest of a lap and a part of the next; more than x laps of it are left with probability 1 − x
// + x³/6 for x up to 1, and (2 − x)³/6 for x up to 2.
func leftOfShuffles(tokens float64) float64 {
	first := quad.Fixed(func(x float64) float64 { return math.Pow(1-x+x*x*x/6, tokens) }, 0, 1, 32, nil, 0)
	return first + math.Pow(6, -tokens)/(3*tokens+1)
}

// wait returns the mean time from when a member becomes due to its run. It is infinite if the tokens cannot be that
// busy.
func (t theory) wait(busy float64) float64 {
	if busy > t.fullest() {
		return math.Inf(1)
	}
	return t.hopsToWait() * t.hop(busy)
}

// straying returns the mean wait of a member out of turn, such as one that has just joined: half a lap of a sweep.
func (t theory) straying(busy float64) float64 {
	if t.walk == wander.Sweep && busy <= t.fullest() {
		return t.lap(busy) / 2
	}
	return t.wait(busy)
}

// busy is the share of time for which a token is in use, if members become due minInterval after their last run. It
// solves
//
//	members × op / (busy × slots) = minInterval + wait(busy)
//
// Both sides are the time between two runs of a member. The left one falls with busy, the right one rises.
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

// interval returns the mean time between two runs of a member, if tokens are in use for the share busy of the time.
func (t theory) interval(busy float64) float64 { return t.members * t.op / (busy * t.slots) }

// lap returns the time until a token has visited every member: on a random walk members × ln members hops of all tokens
// together, otherwise as many hops of one token as there are members. In a sweep the tokens share the members.
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

// silence returns the longest absence of one token from any member that occurs about once in the time once. On a random
// walk absences are exponential with mean members × hop, and each hop begins one. Otherwise none is longer than two
// laps in which all members run.
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

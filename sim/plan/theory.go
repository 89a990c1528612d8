package plan

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
)

// theory is what can be said of a fleet with one token without simulating it: a mean field, good for ten members or more. Times
// are in seconds.
//
// How long a member that is due waits for the token is a number of hops, which depends on the walk alone; and so everything
// follows from the mean time between two hops. For the paper's fleet (a random walk, skip 1, op 4, min_interval 600, 150
// members) it is the equation h = (1+3h)/(5+3h) for the share h of visits that find a member due.
type theory struct {
	walk    wander.Walk
	members float64
	skip    float64
	op      float64
	// handoff is how long Token, Ack and Commit are under way, in which nobody holds the token.
	handoff float64
}

func newTheory(w *Wish, members int, skip time.Duration) theory {
	return theory{
		walk: w.Walk, members: float64(members), skip: skip.Seconds(), op: w.Op.Seconds(),
		handoff: handoffTime(w.latency()).Seconds(),
	}
}

// handoffTime is how long the three messages of a handoff take: "it is composed of three successive messages"
// (Ciuffoletti, section 4).
func handoffTime(latency time.Duration) time.Duration { return 3 * latency }

// load is the share of time that would be busy if every member ran once in every interval: op × members / interval.
func (t theory) load(interval float64) float64 { return t.members * t.op / interval }

// fullest is the greatest share of time that can be busy: between two runs there is a handoff.
func (t theory) fullest() float64 { return t.op / (t.op + t.handoff) }

// hop is the mean time between two hops of a token that is busy for a share of the time: one part of it goes into runs and
// the handoffs after them, and what is left into resting for skip.
func (t theory) hop(busy float64) float64 {
	runs := busy / t.op
	rests := max(0, 1-runs*(t.op+t.handoff)) / (t.skip + t.handoff)
	return 1 / (runs + rests)
}

// hopsToWait is how many hops a member waits for the token that becomes due at a random moment. On average the token comes
// back after as many hops as there are members, N; what counts is what is left of a return, E[X²] / 2 E[X].
func (t theory) hopsToWait() float64 {
	n := t.members
	switch t.walk {
	case wander.Random: // X is two or more, each as likely to be the last
		return n - 1.5 + 1/n
	case wander.Shuffle: // X is N and the difference of two places in orders of N
		return (7*n - 1/n) / 12
	case wander.Sweep:
		// A member that will be due within a lap keeps the token until then. So after an interval or two the members become
		// due in the order in which the token comes, and nobody waits as long as there is time left.
		return 0
	}
	return math.NaN()
}

// wait is the mean time from when a member becomes due to when it runs; infinite if the token cannot be as busy as that.
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

// busy is the share of time in which somebody runs, if members become due minInterval after their last run. It solves
//
//	members × op / busy = minInterval + wait(busy)
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

// interval is the mean time between two runs of a member in a fleet that is busy for a share of the time.
func (t theory) interval(busy float64) float64 { return t.members * t.op / busy }

// lap is how long the token takes until it has been everywhere: on a random walk members × ln members hops, and else as
// many as there are members.
func (t theory) lap(busy float64) float64 {
	lap := t.members * t.hop(busy)
	if t.walk == wander.Random {
		lap *= math.Log(t.members)
	}
	return lap
}

// silence is how long the token stays away from a member about once in so long a time. On a random walk the silences are
// distributed exponentially, with a mean of members × hop, and there is one for each hop. Otherwise none is longer than two
// laps, in which everybody may run.
func (t theory) silence(busy, once float64) float64 {
	if t.walk != wander.Random {
		return 2 * t.members * (t.op + t.skip + 2*t.handoff)
	}
	hop := t.hop(busy)
	return t.members * hop * math.Log(max(once/hop, math.E))
}

package paper

import "math"

// reading is one way to read the paper. What the zero value of a field stands for is how the machines read it.
type reading struct {
	// name says in which way it differs from the prose.
	name string
	// test decides whether a member runs the operation, by period where it is figure 2's.
	test   test
	period float64
	// removal says which other tokens are removed by a member that does not run.
	removal removal
	// crowd is what becomes of a token that comes to a member that has one, of which the paper says nothing.
	crowd crowd
	// raise and fall are K1 and K2: Δgen × K1 when a token is made, − K2 × (Δgen − Δmax) when one is received.
	raise, fall float64
	// makerRuns: who makes a token and is due runs the operation at once, where figure 2 sends the token on.
	makerRuns bool
	// makingCounts: "lasttoken = token" after making one makes the maker wait for Δmin, as after a run.
	makingCounts bool
	// deafToRemoved: a token that is removed does not begin the silence anew.
	deafToRemoved bool
	// silenceFromArrival: the silence begins when a token comes, not when it has gone.
	silenceFromArrival bool
	// countsFromEnd: Δmin is counted from the end of the operation, where figure 2 notes the token.
	countsFromEnd bool
	// spread is up to how much of Δmax each silence is longer, by chance.
	spread float64
}

// test is by what a member decides to run the operation.
type test uint8

const (
	// sinceRun, the prose: "performing the protected operation only in case the component performed the protected operation
	// more than Δmin time units ago".
	sinceRun test = iota
	// betweenBirths, figure 2 to the letter: the stamps of this token and the last differ by more than Δper.
	betweenBirths
	// sinceArrival, figure 2 if a stamp is when a token came.
	sinceArrival
)

// removal is which tokens a member removes that is not to run.
type removal uint8

const (
	// younger, the prose: those that the token of its last run precedes.
	younger removal = iota
	// anyOther, figure 2: all that are not the same as that of its last run.
	anyOther
	// older: precedence the other way round.
	older
)

func (r removal) removes(last, t coin) bool {
	switch r {
	case younger:
		return last.precedes(t)
	case older:
		return t.precedes(last)
	case anyOther:
	}
	return true
}

// crowd is what becomes of a token that comes where another one is.
type crowd uint8

const (
	// olderStays, as the machines do it: the younger of the two is discarded.
	olderStays crowd = iota
	// arrivingWaits: it is received when the other has gone, as a datagram is in a socket.
	arrivingWaits
	// arrivingLost: nobody receives it.
	arrivingLost
)

// prose is the paper as the machines read it: K1 = 1.5, K2 = 0.05.
func prose() reading {
	return reading{name: "the prose, as the machines read it", raise: 1.5, fall: 0.05}
}

// but returns a reading that differs from r in one way, or one more.
func (r reading) but(name string, change func(*reading)) reading {
	r.name = name
	change(&r)
	return r
}

// readings are all that were tried.
func readings() []reading {
	p := prose()
	return []reading{
		p,
		p.but("figure 2 to the letter, Δper = Δmin", literal(betweenBirths, modelMin)),
		p.but("figure 2 to the letter, Δper = Δmax", literal(betweenBirths, modelMax)),
		p.but("figure 2 with times of arrival, Δper = Δmin", literal(sinceArrival, modelMin)),
		p.but("any other token is removed", func(r *reading) { r.removal = anyOther }),
		p.but("any other is removed, Δgen fixed", func(r *reading) { r.removal, r.raise = anyOther, 0 }),
		p.but("the older of two is removed", func(r *reading) { r.removal = older }),
		fixedGen(),
		p.but("a token that comes to a busy member waits", func(r *reading) { r.crowd = arrivingWaits }),
		p.but("a token that comes to a busy member is lost", func(r *reading) { r.crowd = arrivingLost }),
		p.but("making a token counts as a run", func(r *reading) { r.makingCounts = true }),
		p.but("silence begins at arrival", func(r *reading) { r.silenceFromArrival = true }),
		p.but("a removed token does not end the silence", func(r *reading) { r.deafToRemoved = true }),
		p.but("silences spread by 10 % of Δmax", func(r *reading) { r.spread = 0.1 }),
		p.but("Δmin counts from the end of a run", func(r *reading) { r.countsFromEnd = true }),
		p.but("who makes a token runs at once", func(r *reading) { r.makerRuns = true }),
		p.but("K2 = 0.5 in place of 0.05", func(r *reading) { r.fall = 0.5 }),
		p.but("run by the maker, Δmin from the end", func(r *reading) { r.makerRuns, r.countsFromEnd = true, true }),
		closest(),
	}
}

// fixedGen is the paper until section 5.1 makes Δgen adaptive.
func fixedGen() reading {
	return prose().but("Δgen fixed", func(r *reading) { r.raise = 0 })
}

// literal is figure 2: other tokens are removed whatever their age.
func literal(t test, period float64) func(*reading) {
	return func(r *reading) { r.test, r.period, r.removal = t, period, anyOther }
}

// closest is the reading that comes closest to the printed numbers: three of the others at once.
func closest() reading {
	return prose().but("run by the maker, Δmin from the end, K2 = 0.5", func(r *reading) {
		r.makerRuns, r.countsFromEnd, r.fall = true, true, 0.5
	})
}

// deviation is how far numbers are from those published, relative to them, on average over those published numbers that are
// not small enough to be chance.
func deviation(published, measured []float64) float64 {
	const telling = 500
	sum, n := 0.0, 0.0
	for i, p := range published {
		if p >= telling {
			sum += math.Abs(measured[i]-p) / p
			n++
		}
	}
	return sum / n
}

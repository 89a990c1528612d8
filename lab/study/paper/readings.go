package paper

import "math"

// reading is one way to read the paper. Its zero values are the machines' reading.
type reading struct {
	// name describes the difference to the prose.
	name string
	// raise and fall are K1 and K2: Δgen × K1 when a token is made, − K2 × (Δgen − Δmax) when one is received.
	raise, fall float64
	// anyOther: a member that does not run removes every token except that of its last run, as in figure 2. In the
	// prose it removes the tokens that its own precedes.
	anyOther bool
	// arrivingLost: a token that comes to a member that already has one is lost, while the machines discard the
	// younger. The paper says nothing about it.
	arrivingLost bool
	// makerRuns: a member that makes a token while it is due runs at once, where figure 2 sends the token on.
	makerRuns bool
	// makingCounts: "lasttoken = token" after making one makes the maker wait for Δmin, as after a run.
	makingCounts bool
	// countsFromEnd: Δmin is counted from the end of the operation, where figure 2 notes the token.
	countsFromEnd bool
}

// The paper's K1 and K2.
const k1, k2 = 1.5, 0.05

// prose returns the paper as the machines read it.
func prose() reading { return reading{name: "the prose, as the machines read it", raise: k1, fall: k2} }

// fixedGen returns the paper before section 5.1 makes Δgen adaptive.
func fixedGen() reading { return reading{name: "Δgen fixed", fall: k2} }

// closest returns the reading nearest to the printed numbers: three of the others together.
func closest() reading {
	return reading{
		name: "run by the maker, Δmin from the end, K2 = 0.5", raise: k1, fall: 0.5, makerRuns: true,
		countsFromEnd: true,
	}
}

// readings returns those that explain a published number, or show why a reading cannot be meant.
func readings() []reading {
	return []reading{
		prose(),
		{name: "any other token is removed", raise: k1, fall: k2, anyOther: true},
		{name: "any other is removed, Δgen fixed", fall: k2, anyOther: true},
		fixedGen(),
		{name: "a token that comes to a busy member is lost", raise: k1, fall: k2, arrivingLost: true},
		{name: "making a token counts as a run", raise: k1, fall: k2, makingCounts: true},
		{name: "Δmin counts from the end of a run", raise: k1, fall: k2, countsFromEnd: true},
		{name: "who makes a token runs at once", raise: k1, fall: k2, makerRuns: true},
		{name: "K2 = 0.5 in place of 0.05", raise: k1, fall: 0.5},
		closest(),
	}
}

// deviation returns how far numbers are from the published ones, relative to these, on average. It leaves out published
// numbers that are small enough to be chance.
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

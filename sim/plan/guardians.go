package plan

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim/measure"
)

const (
	// minPatience is the least time that a guardian waits for a word of the holder, and beatsPerPatience how many it gets in
	// that time while all is well.
	minPatience      = 250 * time.Millisecond
	beatsPerPatience = 4
	// patiencesToRevive is after how many patiences a guardian takes the token up again: it loses the first, and asks for half
	// of another one.
	patiencesToRevive = 1.5
	// quietPatiences is for how many patiences there must have been one token for a fleet with guardians to be over a loss: all
	// guardians have made up their minds by then.
	quietPatiences = 16
	// guardedWork is how many times the work may be done for a fleet that is simulated with guardians: most of it is beats.
	guardedWork = 4
)

// watched reports whether a fleet must be simulated with its guardians to know what it does in the long run. Else they have
// nothing to do but to hear that all is well: nothing is lost, no handoff takes longer than their patience, and no member is
// left out for so long that it asks others for the token.
func watched(w *Wish, k *Constants) bool {
	return k.Backups > 0 && (w.Loss > 0 || w.Walk == wander.Random || handoffTime(w.latency()) > patience(k))
}

// patience is how long a guardian waits for a word of the holder: skip, and at least a quarter of a second.
func patience(k *Constants) time.Duration { return max(k.Skip, minPatience) }

// guards is how many members guard the token.
func (f *fleet) guards() float64 { return float64(min(f.constants.Backups, f.members-1)) }

// releases is how many guardians are told in each hop that they are none any longer: there is one if there are others to take
// its place.
func (f *fleet) releases() float64 {
	if f.constants.Backups > 0 && f.members > f.constants.Backups+1 {
		return 1
	}
	return 0
}

// rhythm is how often tokens are used and move: runs and hops in a second.
type rhythm struct{ runs, hops float64 }

// inTheory is the rhythm of the fleet as theory has it.
func (f *fleet) inTheory() rhythm {
	busy := f.busy()
	return rhythm{runs: busy / f.theory.op * f.theory.slots, hops: f.theory.slots / f.theory.hop(busy)}
}

// measured is the rhythm of a simulated fleet.
func measured(m *measure.Figures) rhythm {
	return rhythm{runs: float64(m.Operations / m.Duration), hops: float64(m.Hops / m.Duration)}
}

// beats is how many beats a second the guardians get of each rank: one at the beginning of each stay of the token, and four in every
// patience until the Ack comes that ends it. Most stays without a run last for skip, and a beat that would come after their
// end never does; runs end at any moment between two beats.
func (f *fleet) beats(r rhythm) float64 {
	t := &f.theory
	between, offer := patience(&f.constants).Seconds()/beatsPerPatience, 2*f.latency.Seconds()
	inRun := max(0, (t.op+offer)/between-0.5)
	rests := max(0, r.hops-r.runs)
	resting := max(0, t.slots-r.runs*(t.op+t.handoff)-rests*(t.skip+t.handoff)) // beyond skip
	return r.hops + r.runs*inRun + rests*math.Floor((t.skip+offer)/between) + resting/between
}

// guarding is how many datagrams a second guardians add to those of handoffs.
func (f *fleet) guarding(r rhythm) float64 { return f.guards()*f.beats(r) + f.releases()*r.hops }

// stepsPerSecond is how many steps of machines a simulated second takes: a beat is one of the holder's and one of each
// guardian's.
func (f *fleet) stepsPerSecond(r rhythm) float64 {
	steps := hopSteps * r.hops
	if f.guarded {
		steps += f.beats(r)*(1+f.guards()) + f.releases()*r.hops
	}
	return steps
}

// datagrams is how many a second were sent: those that were measured, and those of guardians that were not simulated.
func (f *fleet) datagrams(m *measure.Figures) measure.Number {
	sent := m.Messages / m.Duration
	if f.guarded {
		return sent
	}
	return sent + measure.Number(f.guarding(measured(m)))
}

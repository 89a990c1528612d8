package plan

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim/measure"
)

const (
	// minPatience is the least time for which a guardian waits for a heartbeat of the holder. In a patience it usually
	// gets heartbeatsPerPatience of them.
	minPatience           = 250 * time.Millisecond
	heartbeatsPerPatience = 4
	// patiencesToRevive is the time until a guardian revives the token: it waits for one patience, and asks for half of
	// another one.
	patiencesToRevive = 1.5
	// quietPatiences is for how many patiences there must be exactly one token to end the recovery of a fleet with
	// guardians: all of them have decided by then.
	quietPatiences = 16
	// guardedWork multiplies the work of a simulation with guardians: most of its steps are heartbeats.
	guardedWork = 4
)

// watched reports whether guardians change what a fleet does in the long run, so that they must be simulated. They do
// not if nothing is lost, no handoff takes longer than their patience, and no member waits so long that it asks others
// for the token.
func watched(w *Request, k *Constants) bool {
	return k.Backups > 0 && (w.Loss > 0 || w.Walk == wander.Random || handoffTime(w.latency()) > patience(k))
}

// patience returns how long a guardian waits for a heartbeat of the holder: skip, and at least a quarter of a second.
func patience(k *Constants) time.Duration { return max(k.Skip, minPatience) }

func (f *fleet) guardians() float64 { return float64(min(f.constants.Backups, f.members-1)) }

// releases returns the number of guardians that are released in each hop: one, if there are members to take its place.
func (f *fleet) releases() float64 {
	if f.constants.Backups > 0 && f.members > f.constants.Backups+1 {
		return 1
	}
	return 0
}

// rhythm is the number of runs and of hops in a second.
type rhythm struct{ runs, hops float64 }

func (f *fleet) inTheory() rhythm {
	busy := f.busy()
	return rhythm{runs: busy / f.theory.op * f.theory.slots, hops: f.theory.slots / f.theory.hop(busy)}
}

func measured(m *measure.Figures) rhythm {
	return rhythm{runs: float64(m.Operations / m.Duration), hops: float64(m.Hops / m.Duration)}
}

// heartbeats returns the number of heartbeats a second to the guardians of each rank: one at the beginning of each stay
// of the token, and four in every patience until the Ack that ends it. Most stays without a run last for skip, so no
// heartbeat follows their end; runs end at any moment between two heartbeats.
func (f *fleet) heartbeats(r rhythm) float64 {
	t := &f.theory
	between, offer := patience(&f.constants).Seconds()/heartbeatsPerPatience, 2*f.request.latency().Seconds()
	inRun := max(0, (t.op+offer)/between-0.5)
	rests := max(0, r.hops-r.runs)
	resting := max(0, t.slots-r.runs*(t.op+t.handoff)-rests*(t.skip+t.handoff)) // beyond skip
	return r.hops + r.runs*inRun + rests*math.Floor((t.skip+offer)/between) + resting/between
}

// extra returns the number of datagrams a second that guardians add to those of handoffs.
func (f *fleet) extra(r rhythm) float64 { return f.guardians()*f.heartbeats(r) + f.releases()*r.hops }

// stepsPerSecond returns the number of steps in a simulated second: a heartbeat is a step of the holder and one of each
// guardian.
func (f *fleet) stepsPerSecond(r rhythm) float64 {
	steps := hopSteps * r.hops
	if f.guarded {
		steps += f.heartbeats(r)*(1+f.guardians()) + f.releases()*r.hops
	}
	return steps
}

// datagrams returns the number of datagrams a second: those measured, and those of guardians if guardians were not
// simulated.
func (f *fleet) datagrams(m *measure.Figures) measure.Number {
	sent := m.Messages / m.Duration
	if f.guarded {
		return sent
	}
	return sent + measure.Number(f.extra(measured(m)))
}

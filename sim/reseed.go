package sim

import (
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Reseed changes what a world draws from some moment on: until then a run is the same as without it.
type Reseed struct {
	// At is when; zero means never. Seed is the seed from then on.
	At   time.Duration
	Seed uint64
}

// reseed begins another sequence of random choices. What belongs to the world from its beginning stays as it is: names,
// clocks, links that never deliver, and which hosts are slow.
func (c *Cluster) reseed(seed uint64) {
	c.machineDice.Seed(seed, Mix(machineLabel))
	c.throw(seed)
	if c.faults != nil {
		c.faults.dice = dice(seed, faultsLabel)
	}
}

// throw sets all dice but those of the machines and of the faults.
func (c *Cluster) throw(seed uint64) {
	c.netDice, c.hookDice, c.memberDice = dice(seed, 2), dice(seed, 3), dice(seed, 4)
	c.diskDice, c.demandDice = dice(seed, 7), dice(seed, 9)
	c.directives.dice, c.questions.dice = dice(seed, 10), dice(seed, 11)
}

const machineLabel, faultsLabel = 1, 5

// dice returns the source of one kind of choices.
func dice(seed, label uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, Mix(label))) }

// reseeds arranges for a change of the seed.
func (c *Cluster) reseeds(r Reseed) {
	if r.At > 0 {
		c.At(policy.Time(r.At), func() { c.reseed(r.Seed) })
	}
}

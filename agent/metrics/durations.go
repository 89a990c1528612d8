package metrics

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// mostBounds is how many buckets with an upper end a histogram may have.
const mostBounds = 16

// ranBounds returns the upper ends of the buckets for runs, in seconds. They reach far, because a run may touch a file,
// or upgrade a host for hours.
func ranBounds() []float64 {
	return []float64{0.1, 0.4, 1.6, 6.4, 25.6, 102.4, 409.6, 1638.4, 6553.6, 26214.4}
}

// waitBounds returns the upper ends of the buckets for waits. They begin where a token that is called, or is here, is
// granted: within milliseconds.
func waitBounds() []float64 {
	return append([]float64{0.003125, 0.00625, 0.0125, 0.025, 0.05}, slices.Insert(ranBounds(), 1, 0.2)...)
}

// Durations measures what runs under a gate. Its methods are safe for concurrent use.
type Durations struct{ took, waited *distribution }

func newDurations(took, tookHelp, waited, waitedHelp string) Durations {
	return Durations{
		took:   &distribution{name: took, help: tookHelp, bounds: ranBounds()},
		waited: &distribution{name: waited, help: waitedHelp, bounds: waitBounds()},
	}
}

// Ended counts how long something ran that has ended.
func (d Durations) Ended(gate string, took time.Duration) { d.took.observe(gate, took) }

// Waited counts the wait before a start.
func (d Durations) Waited(gate string, waited time.Duration) { d.waited.observe(gate, waited) }

// distribution is a histogram for each gate.
type distribution struct {
	name, help string
	// bounds are the upper ends of the buckets, at most mostBounds; there is one bucket more.
	bounds []float64

	mutex sync.Mutex
	gates map[string]*counts
}

// counts are the numbers of durations that are in a bucket, and in none before it.
type counts struct {
	buckets [mostBounds + 1]uint64
	sum     float64
}

func (d *distribution) observe(gate string, took time.Duration) {
	seconds := took.Seconds()
	bucket, _ := slices.BinarySearch(d.bounds, seconds)
	d.mutex.Lock()
	defer d.mutex.Unlock()
	c := d.gates[gate]
	if c == nil {
		if d.gates == nil {
			d.gates = map[string]*counts{}
		}
		c = &counts{}
		d.gates[gate] = c
	}
	c.buckets[bucket]++
	c.sum += seconds
}

func (d *distribution) write(p *page) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	for _, gate := range slices.Sorted(maps.Keys(d.gates)) {
		f, c, all := p.family(d.name, d.help, histogram), d.gates[gate], uint64(0)
		for i, n := range c.buckets[:len(d.bounds)+1] {
			bound := math.Inf(1)
			if i < len(d.bounds) {
				bound = d.bounds[i]
			}
			all += n
			f.sample("_bucket", float64(all), label{"gate", gate}, label{"le", number(bound)})
		}
		f.sample("_sum", c.sum, label{"gate", gate})
		f.sample("_count", float64(all), label{"gate", gate})
	}
}

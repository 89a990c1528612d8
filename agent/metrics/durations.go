package metrics

import (
	"maps"
	"math"
	"slices"
	"sync"
	"time"
)

// finite is how many buckets have an upper end.
const finite = 10

// bounds returns the upper ends of a histogram's buckets, in seconds. They reach far, because a run may touch a file,
// or upgrade a host for hours.
func bounds() [finite]float64 {
	return [...]float64{0.1, 0.4, 1.6, 6.4, 25.6, 102.4, 409.6, 1638.4, 6553.6, 26214.4}
}

// Durations measures what runs under a gate. Its methods are safe for concurrent use.
type Durations struct{ took, waited *distribution }

func newDurations(took, tookHelp, waited, waitedHelp string) Durations {
	return Durations{
		took: &distribution{name: took, help: tookHelp}, waited: &distribution{name: waited, help: waitedHelp},
	}
}

// Ended counts how long something ran that has ended.
func (d Durations) Ended(gate string, took time.Duration) { d.took.observe(gate, took) }

// Waited counts the wait before a start.
func (d Durations) Waited(gate string, waited time.Duration) { d.waited.observe(gate, waited) }

// distribution is a histogram for each gate.
type distribution struct {
	name, help string

	mutex sync.Mutex
	gates map[string]*counts
}

// counts are the numbers of durations that are in a bucket, and in none before it.
type counts struct {
	buckets [finite + 1]uint64
	sum     float64
}

func (d *distribution) observe(gate string, took time.Duration) {
	seconds := took.Seconds()
	ends := bounds()
	bucket, _ := slices.BinarySearch(ends[:], seconds)
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
		f, c, all, ends := p.family(d.name, d.help, histogram), d.gates[gate], uint64(0), bounds()
		for i, n := range c.buckets {
			bound := math.Inf(1)
			if i < len(ends) {
				bound = ends[i]
			}
			all += n
			f.sample("_bucket", float64(all), label{"gate", gate}, label{"le", number(bound)})
		}
		f.sample("_sum", c.sum, label{"gate", gate})
		f.sample("_count", float64(all), label{"gate", gate})
	}
}

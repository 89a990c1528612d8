package scenario

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/cmd/wanderd/config"
	"github.com/wanderd/wanderd/wire"
)

const (
	maxMembers = 1_000_000
	maxSeeds   = 100_000
	// leastPeriod is the least mean time between two faults: of less, nothing is left of the fleet.
	leastPeriod = time.Second
	// longestRound keeps products of members and durations far from overflow.
	longestRound = 50 * 365 * 24 * time.Hour
)

// check finds what cannot be, and leaves alone what was not understood in the first place.
func (r *reading) check() {
	r.within("members", r.Members, 1, maxMembers)
	r.within("seeds", r.Seeds, 1, maxSeeds)
	r.within("slots", r.Slots, 1, wire.MaxSlots)
	r.within("backups", r.Backups, 0, wire.MaxBackups)
	for _, key := range []string{"op", "op_configured", "skip", "min_interval", "max_interval", "duration", "partition_for"} {
		if _, ok := r.origins[key]; ok && r.time(key) == 0 {
			r.object("%s is no time at all: leave it out for the default, "+entry(key).DefaultText(), key)
		}
	}
	r.ordered("min_interval", "op", "a member would be due again before it has finished")
	r.ordered("max_interval", "min_interval", "every member would take the token for lost between two operations")
	if float64(r.Members)*float64(r.Op) > float64(longestRound) {
		r.object("%s and %s make a round of more than 50 years: lower one of them", "members", "op")
	}
	if told := r.OpConfigured != r.Op; told && float64(r.Members)*float64(r.OpConfigured) > float64(longestRound) {
		r.object("%s and %s make a round of more than 50 years: lower one of them", "members", "op_configured")
	}
	if r.OpJitter.Time > r.Op {
		r.object("%s is more than %s, so an operation would take less than no time: lower the one or raise the other",
			"op_jitter", "op")
	}
	for _, p := range r.table {
		if v, ok := p.field(&r.Parameters).(period); ok && !v.never() && *v.at < leastPeriod {
			r.object("%s is below "+config.FormatDuration(leastPeriod)+", and so many faults are not a fleet: raise it", p.Key)
		}
		if _, ok := r.origins[p.Key]; ok && p.Needs != "" {
			if _, ok := r.origins[p.Needs]; !ok {
				r.object("%s has no effect without "+p.Needs+": give that too, or leave this out", p.Key)
			}
		}
	}
	r.checkPartition()
}

func (r *reading) checkPartition() {
	if r.PartitionAt == nil {
		return
	}
	if *r.PartitionAt >= r.Duration {
		r.object("%s is not before the end, %s: make it earlier or the run longer", "partition_at", "duration")
	}
	if side := r.PartitionShare * float64(r.Members); side < 1 || side > float64(r.Members-1) {
		r.object("%s leaves nobody on one side of %s: choose one that puts at least one member on either side",
			"partition_share", "members")
	}
}

// within demands a count within a range.
func (r *reading) within(key string, n, least, most int) {
	if n < least || n > most {
		r.object(fmt.Sprintf("%%s is not possible: choose from %d to %d", least, most), key)
	}
}

// ordered demands that one time is not below another.
func (r *reading) ordered(high, low, because string) {
	if h := r.time(high); h > 0 && h < r.time(low) {
		r.object("%s is below %s, so "+because+": raise the one or lower the other", high, low)
	}
}

func (r *reading) time(key string) time.Duration {
	d, ok := entry(key).field(&r.Parameters).(duration)
	if !ok {
		return 0
	}
	return *d.at
}

// object complains about parameters, which take the places of %s with their values and where they come from. Of one that was
// not understood enough has been said.
func (r *reading) object(format string, keys ...string) {
	quoted := make([]any, len(keys))
	for i, key := range keys {
		from := r.origins[key]
		if from.broken {
			return
		}
		quoted[i] = fmt.Sprintf("%s %s (%s)", key, entry(key).field(&r.Parameters), from)
	}
	r.complain(format, quoted...)
}

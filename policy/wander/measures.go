package wander

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// measures are what this member knows of durations: of an operation, here or elsewhere, and of a lap of the token.
type measures struct {
	// opIs is the estimate of Δop in milliseconds; zero if there is none.
	opIs uint32
	// hasLeft is true once a token has left.
	hasLeft bool
	// leftAt is when the last token left, whatever its age. lapIs is the duration of a lap according to the rounds;
	// zero while it is unknown.
	leftAt policy.Time
	rounds rounds
	lapIs  time.Duration
}

// OpSource is the source of Δop, the typical duration of the protected operation.
type OpSource uint8

const (
	// OpConfigured: the operator has configured it.
	OpConfigured OpSource = iota
	// OpMeasured: the members have measured their runs.
	OpMeasured
	// OpAssumed: no member has run yet, or this member has not heard of it.
	OpAssumed
)

// String returns one word.
func (o OpSource) String() string {
	return policy.Name([]string{OpConfigured: "configured", OpMeasured: "measured", OpAssumed: "assumed"}, o)
}

// assumedOp is Δop before the first measurement: the paper's value.
const assumedOp = 4 * time.Second

// One run moves the estimate by an eighth of the difference, as in RFC 6298. A long run counts as at most twice the
// estimate, so a run that hangs for hours raises the estimate by an eighth. After an operation has become ten times as
// long, the estimate follows within twenty runs.
const (
	smoothing = 8
	longest   = 2
)

// leastLaps is the shortest silence that means anything, in laps: in a shuffle a member waits for at most two.
const leastLaps = 2

// op is Δop.
func (t *measures) op(cfg *Config) time.Duration {
	op, _ := t.opFrom(cfg)
	return op
}

// opFrom returns Δop and its source: the operator's value, or the estimate that the token carries.
func (t *measures) opFrom(cfg *Config) (time.Duration, OpSource) {
	switch {
	case cfg.Op > 0:
		return cfg.Op, OpConfigured
	case t.opIs > 0:
		return time.Duration(t.opIs) * time.Millisecond, OpMeasured
	}
	return assumedOp, OpAssumed
}

// ran updates the estimate with the duration of a run. The estimate travels with the token, so each run improves it for
// all members.
func (t *measures) ran(took time.Duration) {
	sample := max(took.Milliseconds(), 1)
	estimate := int64(t.opIs)
	switch {
	case estimate == 0:
		estimate = sample
	case sample > estimate:
		// Rounded up, because an estimate of a few milliseconds would never rise otherwise.
		estimate += (min(sample, longest*estimate) - estimate + smoothing - 1) / smoothing
	default:
		estimate += (sample - estimate) / smoothing
	}
	t.learn(uint32(min(estimate, math.MaxUint32)))
}

// learn adopts an estimate, unless it is zero.
func (t *measures) learn(milliseconds uint32) {
	if milliseconds > 0 {
		t.opIs = milliseconds
	}
}

// estimate is what a token carries of Δop.
func (t *measures) estimate() (milliseconds uint32) { return t.opIs }

// visit is how long the token stays with a member, by the constants: the duration of the operation. In a gate on demand
// a lap may pass without a run, and a lap of skips may take longer than one of short operations.
func (t *measures) visit(cfg *Config) time.Duration {
	if cfg.OnDemand {
		return max(t.op(cfg), cfg.Skip)
	}
	return t.op(cfg)
}

// passed records that a token of that age leaves. If the token is older than the time since the last one left, that
// time was a round, in a lap of that many members.
func (t *measures) passed(now policy.Time, age time.Duration, lapLength int) {
	if since := now.Sub(t.leftAt); t.hasLeft && since <= age {
		t.rounds.add(since, lapLength)
		t.count(lapLength)
	}
	t.hasLeft, t.leftAt = true, now
}

// count computes what a lap of that many members takes.
func (t *measures) count(lapLength int) { t.lapIs = t.rounds.lap(lapLength) }

// lap is what a lap takes; zero while it is unknown.
func (t *measures) lap() time.Duration { return t.lapIs }

// maxInterval is Δmax: the operator's, or 3 × Δmin (table 2), and never below 3 × members × Δop: "when the size of the
// membership N is significantly near the rate Δmax/Δop, the system shows instability when the token is lost" (section
// 5.1).
//
// Handoffs take time too, and the operator may be wrong, so Δmax is never below two measured laps. The plain paper,
// without guardians, uses its constants. If the operator has set neither Δmax nor Δop, measured laps count in the plain
// paper as well: runs that a timeout ends, or that fail at once, tell little about Δop, but they still make up the
// laps.
func (t *measures) maxInterval(cfg *Config, members int) time.Duration {
	if cfg.Backups == 0 && (cfg.Op > 0 || cfg.MaxInterval > 0) {
		return t.toldMaxInterval(cfg, members)
	}
	return max(t.toldMaxInterval(cfg, members), policy.Times(leastLaps, t.lapIs))
}

// toldMaxInterval is Δmax from the constants alone.
func (t *measures) toldMaxInterval(cfg *Config, members int) time.Duration {
	if cfg.MaxInterval > 0 {
		return cfg.MaxInterval
	}
	return policy.Times(3, max(cfg.MinInterval, policy.Times(members, t.visit(cfg))))
}

// tooShort returns the name of the operator's constant that is too short for the measured laps.
func (t *measures) tooShort(cfg *Config, members int) string {
	switch {
	case policy.Times(leastLaps, t.lapIs) <= t.toldMaxInterval(cfg, members):
	case cfg.MaxInterval > 0:
		return "max_interval"
	case cfg.Op > 0:
		return "op"
	}
	return ""
}

// maxIntervalRule explains the value of max_interval: the operator's value, two laps, or the longer side of the default
// rule.
func (t *measures) maxIntervalRule(cfg *Config, members int) string {
	is := t.maxInterval(cfg, members)
	switch {
	case t.lapIs > 0 && is == policy.Times(leastLaps, t.lapIs):
		return fmt.Sprintf("two laps of %s", t.lapIs.Round(time.Second))
	case cfg.MaxInterval > 0:
		return "as configured"
	case is > policy.Times(3, cfg.MinInterval) && t.visit(cfg) > t.op(cfg):
		return fmt.Sprintf("3 × %d members × skip", members)
	case is > policy.Times(3, cfg.MinInterval):
		return fmt.Sprintf("3 × %d members × op", members)
	}
	return "3 × min_interval"
}

// lapAtMost is the longest time that a lap takes: the measured lap, or a third of Δmax, which by the default rule is a
// lap in which all members are due. It is at most Δmax, because after that a token may have been replaced.
func (t *measures) lapAtMost(cfg *Config, members int) time.Duration {
	most := t.maxInterval(cfg, members)
	return min(max(t.lapIs, most/3), most)
}

// maxRounds is the number of rounds that a member remembers.
const maxRounds = 6

// rounds are the last durations between two departures of a token from this member, each with the number of members of
// a lap at that time. A new round replaces the oldest. If there is one token, a round begins and ends with it.
type rounds struct {
	took    [maxRounds]time.Duration
	members [maxRounds]uint32
	count   uint8
}

func (r *rounds) add(took time.Duration, members int) {
	at := r.count % maxRounds
	r.took[at], r.members[at] = took, uint32(members)
	// When all places are taken, the count cycles from maxRounds to twice that.
	if r.count++; r.count == 2*maxRounds {
		r.count = maxRounds
	}
}

// lap is the duration of a lap of that many members: the second longest of the last rounds, or zero if there were fewer
// than two. So one round in which a hook hung or this member was away does not count, and neither does one that a
// second token cut short. If members have left since, a lap takes less. If members have come, it may not take longer:
// their runs may replace rests of the token.
func (r *rounds) lap(members int) time.Duration {
	n := min(int(r.count), maxRounds)
	if n < 2 {
		return 0
	}
	took := r.took
	for i := range n {
		if then := int(r.members[i]); members < then {
			took[i] = took[i] / time.Duration(then) * time.Duration(members)
		}
	}
	slices.Sort(took[:n])
	return took[n-2]
}

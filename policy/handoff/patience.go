package handoff

import (
	"math"
	"time"
)

// How patience follows the network. It is two round trips, where that is more than the paper's timeout, and never more than
// mostTimeouts of these. Offers that fail without any answer double it, once for every failuresPerDoubling in a row: one member
// that does not answer is down; if none does, the network may be slower than all that was waited for. What it was raised by falls
// by a fallback-th with every answer that comes sooner.
const (
	mostTimeouts          = 16
	roundTripsPerPatience = 2
	failuresPerDoubling   = 4
	fallback              = 8
	// unmeasuredTimeouts is how long a receiver waits that has never had an answer: it cannot know what it would be too impatient for.
	unmeasuredTimeouts = 4
)

// A network is too slow for its timeout where answers take longer than half of it: what is lost can be repeated too seldom, and who
// asks a question waits for half a timeout. One late answer says nothing: slowStep is added for each, one taken off for any
// other, and at slowAlarm the owner is told.
const (
	slowStep  = 2
	slowAlarm = 8 * slowStep
)

// patience is how long a partner is waited for. A sender that gives up before an Ack can be there never passes its token on; a
// receiver that gives up before the Commit loses it. One too patient only finds out later that its partner is gone.
type patience struct {
	// timeout is the paper's, and the least.
	timeout time.Duration
	// roundTrip is the longest time from the first sending of a message to its answer, of late. Where the message was repeated it
	// may be too long by the time before the last sending, never too short: RFC 6298's problem, seen from its harmless side.
	roundTrip time.Duration
	failures  uint8
	slow      uint8
}

// most is the longest patience.
func (p *patience) most() time.Duration { return scale(p.timeout, mostTimeouts) }

// lasts returns how long a partner is waited for now.
func (p *patience) lasts() time.Duration {
	d := max(p.timeout, roundTripsPerPatience*p.roundTrip)
	for range p.failures / failuresPerDoubling {
		d = scale(d, 2)
	}
	return min(d, p.most())
}

// forCommit returns how long a receiver waits for a Commit. It loses the token if that is too short, and nothing if it is too long.
func (p *patience) forCommit() time.Duration {
	if p.roundTrip == 0 {
		return max(p.lasts(), scale(p.timeout, unmeasuredTimeouts))
	}
	return p.lasts()
}

// repeats returns how long to wait before a message is repeated for the first time, if wait is what round trips say: half a timeout at
// most, and in a network slower than that no less.
func (p *patience) repeats(wait time.Duration) time.Duration {
	if half := p.timeout / 2; p.roundTrip > half {
		return max(half, 1)
	}
	return wait
}

// answered takes the time from the first sending of a message to its answer, in time or too late, and reports whether
// the network has been found too slow. One answer at most doubles the patience: a partner that was stopped for a while proves little.
func (p *patience) answered(after time.Duration) (tooSlow bool) {
	after = max(min(after, p.lasts(), p.most()/roundTripsPerPatience), 1)
	p.failures = 0
	if p.roundTrip < after {
		p.roundTrip = after
	} else {
		p.roundTrip -= (p.roundTrip - after) / fallback
	}
	switch {
	case after > p.timeout/roundTripsPerPatience:
		p.slow += slowStep
	case p.slow > 0:
		p.slow--
	}
	if p.slow < slowAlarm {
		return false
	}
	p.slow = 0
	return true
}

// failed counts an offer that got no answer.
func (p *patience) failed() {
	if p.failures < math.MaxUint8 {
		p.failures++
	}
}

// scale returns n × d, held at the end of the range.
func scale(d time.Duration, n int64) time.Duration {
	if int64(d) > math.MaxInt64/n {
		return math.MaxInt64
	}
	return d * time.Duration(n)
}

package handoff

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Patience follows the network. It is two round trips if that is more than the paper's timeout, and at most mostTimeouts timeouts.
// Offers that fail without an answer double it, once for every failuresPerDoubling in a row: a single member that does not answer is
// down, but if none answers, the network may be slower than the patience. With every earlier answer the excess falls by 1/fallback.
const (
	mostTimeouts          = 16
	roundTripsPerPatience = 2
	failuresPerDoubling   = 4
	fallback              = 8
	// unmeasuredTimeouts is how many timeouts a receiver waits before its first measurement.
	unmeasuredTimeouts = 4
)

// A network is too slow for its timeout if answers take longer than half of it: too few repetitions fit in, and a question waits for
// half a timeout only. One late answer is no sign: each adds slowStep, any other answer subtracts one, and at slowAlarm there is a
// note.
const (
	slowStep  = 2
	slowAlarm = 8 * slowStep
)

// patience is how long a member waits for a partner. A sender that gives up before the Ack can arrive never passes its token; a
// receiver that gives up before the Commit loses it. Too much patience only delays the detection of a lost partner.
type patience struct {
	// timeout is the paper's timeout, and the least patience.
	timeout time.Duration
	// roundTrip is the longest recent time from the first sending of a message to its answer. If the message was repeated, it may be
	// too long, never too short, which is the harmless side of RFC 6298's problem.
	roundTrip time.Duration
	failures  uint8
	slow      uint8
}

// most is the longest patience.
func (p *patience) most() time.Duration { return policy.Times(mostTimeouts, p.timeout) }

// lasts returns the current patience.
func (p *patience) lasts() time.Duration {
	d := p.calm()
	for range p.failures / failuresPerDoubling {
		d = policy.Times(2, d)
	}
	return min(d, p.most())
}

// calm returns the patience of a member whose offers succeed.
func (p *patience) calm() time.Duration { return max(p.timeout, roundTripsPerPatience*p.roundTrip) }

// forCommit returns how long a receiver waits for a Commit. If that is too short, the token is lost; if it is too long, nothing is.
func (p *patience) forCommit() time.Duration {
	if p.roundTrip == 0 {
		return max(p.lasts(), policy.Times(unmeasuredTimeouts, p.timeout))
	}
	return p.lasts()
}

// repeats returns the wait before the first repetition of a message; wait is the estimate from round trips. In a network with round
// trips above half a timeout it is half a timeout.
func (p *patience) repeats(wait time.Duration) time.Duration {
	if half := p.timeout / 2; p.roundTrip > half {
		return max(half, 1)
	}
	return wait
}

// answered records the time from the first sending of a message to its answer, in time or late, and reports whether the network
// is too slow. One answer at most doubles the patience, because a partner that was paused says little about the network.
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

// failed counts an offer without an answer.
func (p *patience) failed() {
	if p.failures < math.MaxUint8 {
		p.failures++
	}
}

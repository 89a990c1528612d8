package handoff

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Patience follows the network. It is two round trips if that is more than the paper's timeout, and at most
// mostTimeouts timeouts. Offers that fail without an answer double it, once for every failuresPerDoubling in a row: a
// single member that does not answer is down, but if none answers, the network may be slower than the patience. With
// every earlier answer the excess falls by 1/fallback.
const (
	mostTimeouts          = 16
	roundTripsPerPatience = 2
	failuresPerDoubling   = 4
	fallback              = 8
	// unmeasuredTimeouts is how many timeouts a receiver waits before its first measurement.
	unmeasuredTimeouts = 4
)

// A network is too slow for its timeout if answers take longer than half of it: too few repetitions fit in, and a
// question waits for only half a timeout. One late answer is no sign: each adds slowStep, any other answer subtracts
// one, and at slowAlarm there is a note.
const (
	slowStep  = 2
	slowAlarm = 8 * slowStep
)

// patience is how long a member waits for a partner. A sender that gives up before the Ack can arrive never passes its
// token; a receiver that gives up before the Commit loses it. Too much patience only delays the detection of a lost
// partner.
type patience struct {
	// timeout is the paper's timeout, and the least patience.
	timeout time.Duration
	// roundTrip is the longest recent time from the first sending of a message to its answer, over all partners. If the
	// message was repeated, it may be too long, but never too short; that is the harmless side of RFC 6298's problem.
	roundTrip time.Duration
	// distances are the round trips of partners that are further away: their answers are too rare to keep roundTrip up.
	distances distances
	failures  uint8
	slow      slowness
}

// most is the longest patience.
func (p *patience) most() time.Duration { return policy.Times(mostTimeouts, p.timeout) }

// tooSlow is the longest round trip for which the timeout is long enough.
func (p *patience) tooSlow() time.Duration { return p.timeout / roundTripsPerPatience }

// lasts returns the current patience for a round trip.
func (p *patience) lasts(roundTrip time.Duration) time.Duration {
	d := p.calm(roundTrip)
	for range p.failures / failuresPerDoubling {
		d = policy.Times(2, d)
	}
	return min(d, p.most())
}

// calm returns the patience of a member whose offers succeed.
func (p *patience) calm(roundTrip time.Duration) time.Duration {
	return max(p.timeout, roundTripsPerPatience*roundTrip)
}

// to returns the longest round trip to be expected to the partner with that hint.
func (p *patience) to(hint uint32) time.Duration { return max(p.roundTrip, p.distances.to(hint)) }

// with returns the current patience with a partner.
func (p *patience) with(hint uint32) time.Duration { return p.lasts(p.to(hint)) }

// longest returns the longest round trip to any partner.
func (p *patience) longest() time.Duration { return max(p.roundTrip, p.distances.longest()) }

// forCommit returns how long a receiver waits for a Commit. If it is too short, the token is lost; if it is too long,
// nothing is lost.
func (p *patience) forCommit(hint uint32) time.Duration {
	if p.roundTrip == 0 {
		return max(p.with(hint), policy.Times(unmeasuredTimeouts, p.timeout))
	}
	return p.with(hint)
}

// repeats returns the wait before the first repetition of a message; wait is the estimate from round trips. To a
// partner with round trips above half a timeout it is half a timeout.
func (p *patience) repeats(hint uint32, wait time.Duration) time.Duration {
	if p.to(hint) > p.timeout/2 {
		return max(p.timeout/2, 1)
	}
	return wait
}

// answered records the time from the first sending of a message to its answer, in time or late, and reports whether the
// network, or this partner, is too slow. One answer at most doubles the patience, because the answer of a partner that
// was paused tells little about the network.
func (p *patience) answered(hint uint32, after time.Duration) (tooSlow bool) {
	most := p.most() / roundTripsPerPatience
	theirs := max(min(after, p.with(hint), most), 1)
	all := max(min(after, p.lasts(p.roundTrip), most), 1)
	p.failures = 0
	p.roundTrip = recent(p.roundTrip, all)
	isSlow := after > p.tooSlow()
	tooSlow = p.slow.answered(isSlow)
	if p.distances.answered(hint, theirs, isSlow, p.tooSlow()) || tooSlow {
		p.slow = 0
		return true
	}
	return false
}

// recent returns the longest recent round trip, after another one was measured.
func recent(longest, another time.Duration) time.Duration {
	if longest < another {
		return another
	}
	return longest - (longest-another)/fallback
}

// slowness counts slow answers.
type slowness uint8

// answered counts an answer, and reports whether too many are slow; then it begins again.
func (s *slowness) answered(isSlow bool) (tooMany bool) {
	switch {
	case isSlow:
		*s += slowStep
	case *s > 0:
		*s--
	}
	if *s < slowAlarm {
		return false
	}
	*s = 0
	return true
}

// failed counts an offer without an answer.
func (p *patience) failed() {
	if p.failures < math.MaxUint8 {
		p.failures++
	}
}

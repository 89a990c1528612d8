package handoff

import "time"

// minWait is the least time before a message is repeated: a few milliseconds, so that a busy host is not mistaken for a
// lost datagram.
const minWait = 5 * time.Millisecond

// estimator says how long to wait before a message is repeated, from the round trips seen so far (RFC 6298, section 2).
// It is one for all partners: a fleet's hosts are about equally far apart, and a wrong guess costs one datagram.
type estimator struct {
	smoothed, variation time.Duration
	first, longest      time.Duration
}

// newEstimator starts with RFC 6298's second or a quarter of the handoff's timeout, and never waits for more than half of
// it: at least one repetition fits in.
func newEstimator(timeout time.Duration) estimator {
	return estimator{first: min(timeout/4, time.Second), longest: timeout / 2}
}

// sample takes the time between the last sending of a message and its answer. Where the message was repeated, nobody knows
// which sending was answered, and the RFC would take no sample and keep the longer wait instead (Karn). Here the guess may
// be too short, which costs a datagram, but not too long: then fewer repetitions fit into the timeout, and the token is lost
// when all of them are. Taking no sample and keeping no wait would leave a guess that has become too short so for ever.
func (e *estimator) sample(rtt time.Duration) {
	rtt = max(rtt, 1)
	if e.smoothed == 0 {
		e.smoothed, e.variation = rtt, rtt/2
		return
	}
	e.variation += (max(e.smoothed-rtt, rtt-e.smoothed) - e.variation) / 4
	e.smoothed += (rtt - e.smoothed) / 8
}

// timeout returns the time to wait for an answer to a message sent for the first time.
func (e *estimator) timeout() time.Duration {
	if e.smoothed == 0 {
		return max(e.first, 1)
	}
	return min(max(e.smoothed+4*e.variation, minWait), max(e.longest, 1))
}

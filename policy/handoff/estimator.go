package handoff

import "time"

// minWait is the least time before a message is repeated: a few milliseconds, so that a busy host is not mistaken for a
// lost datagram.
const minWait = 5 * time.Millisecond

// estimator says how long to wait before a message is repeated, from the round trips seen so far (RFC 6298, section 2).
// It is one for all partners: a fleet's hosts are about equally far apart, and a wrong guess costs one datagram.
type estimator struct {
	smoothed, variation time.Duration
	// handoff is the handoff's timeout.
	handoff time.Duration
}

// first is RFC 6298's second or a quarter of the handoff's timeout.
func (e *estimator) first() time.Duration { return max(min(e.handoff/4, time.Second), 1) }

// longest is half of the handoff's timeout: at least one repetition fits in.
func (e *estimator) longest() time.Duration { return max(e.handoff/2, 1) }

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

// next returns the time to wait after a message was repeated: twice as long, and no longer than half of the handoff's timeout. Each
// repetition shows the receiver that its sender still waits.
func (e *estimator) next(wait time.Duration) time.Duration { return min(2*wait, e.longest()) }

// timeout returns the time to wait for an answer to a message sent for the first time.
func (e *estimator) timeout() time.Duration {
	if e.smoothed == 0 {
		return e.first()
	}
	return min(max(e.smoothed+4*e.variation, minWait), e.longest())
}

package handoff

import "time"

// minWait is the least time before a message is repeated: a few milliseconds, so that a busy host does not look like a
// lost datagram.
const minWait = 5 * time.Millisecond

// estimator computes how long to wait before a message is repeated, from the measured round trips (RFC 6298, section
// 2). There is one for all partners: the hosts of a fleet are about equally far apart, and a wrong estimate costs one
// datagram.
type estimator struct {
	smoothed, variation time.Duration
	// handoff is the handoff's timeout.
	handoff time.Duration
}

// first is the wait without a measurement: RFC 6298's second, and at most a quarter of the handoff's timeout.
func (e *estimator) first() time.Duration { return max(min(e.handoff/4, time.Second), 1) }

// longest is half of the handoff's timeout, so at least one repetition fits into the timeout.
func (e *estimator) longest() time.Duration { return max(e.handoff/2, 1) }

// sample records the time between the last sending of a message and its answer. If the message was repeated, it is
// unknown which sending was answered; the RFC then takes no sample and keeps the longer wait (Karn). Here an estimate
// may be too short: this costs a datagram. It must not be too long: fewer repetitions would fit into the timeout, and
// the token is lost if all of them are lost. Without a sample and without the longer wait, an estimate that has become
// too short would stay so.
func (e *estimator) sample(rtt time.Duration) {
	rtt = max(rtt, 1)
	if e.smoothed == 0 {
		e.smoothed, e.variation = rtt, rtt/2
		return
	}
	e.variation += (max(e.smoothed-rtt, rtt-e.smoothed) - e.variation) / 4
	e.smoothed += (rtt - e.smoothed) / 8
}

// next returns the wait after a repetition: twice the last one, at most half of the handoff's timeout. Each repetition
// shows the receiver that its sender still waits.
func (e *estimator) next(wait time.Duration) time.Duration { return min(2*wait, e.longest()) }

// timeout returns the wait for an answer after the first sending of a message.
func (e *estimator) timeout() time.Duration {
	if e.smoothed == 0 {
		return e.first()
	}
	return min(max(e.smoothed+4*e.variation, minWait), e.longest())
}

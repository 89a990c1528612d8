package wander

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// assumedOp is Δop before anybody has measured it: the paper's.
const assumedOp = 4 * time.Second

// One run moves the estimate by an eighth of the difference, as in RFC 6298, and a run that takes long counts as twice the estimate at
// most: one that hangs for hours moves it by an eighth of itself. An operation that has become ten times as long is followed within
// twenty runs.
const (
	smoothing = 8
	longest   = 2
)

// op is Δop: the operator's, or what the token has measured.
func (m *Machine) op() time.Duration {
	switch {
	case m.cfg.Op > 0:
		return m.cfg.Op
	case m.measured > 0:
		return time.Duration(m.measured) * time.Millisecond
	}
	return assumedOp
}

// opSource says where op comes from.
func (m *Machine) opSource() policy.OpSource {
	switch {
	case m.cfg.Op > 0:
		return policy.OpConfigured
	case m.measured > 0:
		return policy.OpMeasured
	}
	return policy.OpAssumed
}

// measure takes up how long a run took. The estimate travels with the token: each run improves it for all.
func (m *Machine) measure(took time.Duration) {
	sample := max(took.Milliseconds(), 1)
	estimate := int64(m.measured)
	switch {
	case estimate == 0:
		estimate = sample
	case sample > estimate:
		// Rounded up, or an estimate of some milliseconds would stay for ever.
		estimate += (min(sample, longest*estimate) - estimate + smoothing - 1) / smoothing
	default:
		estimate += (sample - estimate) / smoothing
	}
	m.learnOp(uint32(min(estimate, math.MaxUint32)))
	if m.holds {
		m.token.Op = m.measured
	}
}

// learnOp takes up an estimate, if it is one.
func (m *Machine) learnOp(milliseconds uint32) {
	if milliseconds > 0 {
		m.measured = milliseconds
	}
}

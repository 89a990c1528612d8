package wander

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/policy"
)

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

// One run moves the estimate by an eighth of the difference, as in RFC 6298. A long run counts as at most twice the estimate, so a run that hangs for
// hours raises the estimate by an eighth. After an operation has become ten times as long, the estimate follows within twenty runs.
const (
	smoothing = 8
	longest   = 2
)

// op is Δop.
func (m *Machine) op() time.Duration {
	op, _ := m.opFrom()
	return op
}

// opFrom returns Δop and its source: the operator's value, or the estimate that the token carries.
func (m *Machine) opFrom() (time.Duration, OpSource) {
	switch {
	case m.cfg.Op > 0:
		return m.cfg.Op, OpConfigured
	case m.measured > 0:
		return time.Duration(m.measured) * time.Millisecond, OpMeasured
	}
	return assumedOp, OpAssumed
}

// measure updates the estimate with the duration of a run. The estimate travels with the token, so each run improves it for all members.
func (m *Machine) measure(took time.Duration) {
	sample := max(took.Milliseconds(), 1)
	estimate := int64(m.measured)
	switch {
	case estimate == 0:
		estimate = sample
	case sample > estimate:
		// Rounded up, because an estimate of a few milliseconds would never rise otherwise.
		estimate += (min(sample, longest*estimate) - estimate + smoothing - 1) / smoothing
	default:
		estimate += (sample - estimate) / smoothing
	}
	m.learnOp(uint32(min(estimate, math.MaxUint32)))
	if m.holds {
		SetOp(&m.token.Load, m.measured)
	}
}

// learnOp adopts an estimate, unless it is zero.
func (m *Machine) learnOp(milliseconds uint32) {
	if milliseconds > 0 {
		m.measured = milliseconds
	}
}

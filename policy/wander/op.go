package wander

import (
	"math"
	"time"
)

// OpSource says where Δop, the typical duration of the protected operation, comes from.
type OpSource uint8

const (
	// OpConfigured: the operator says so.
	OpConfigured OpSource = iota
	// OpMeasured: the members have measured their runs.
	OpMeasured
	// OpAssumed: nobody has run yet, or told this member.
	OpAssumed
)

// String returns one word.
func (o OpSource) String() string {
	switch o {
	case OpConfigured:
		return "configured"
	case OpMeasured:
		return "measured"
	case OpAssumed:
		return "assumed"
	}
	return "unknown"
}

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
func (m *Machine) opSource() OpSource {
	switch {
	case m.cfg.Op > 0:
		return OpConfigured
	case m.measured > 0:
		return OpMeasured
	}
	return OpAssumed
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
		SetOp(&m.token.Load, m.measured)
	}
}

// learnOp takes up an estimate, if it is one.
func (m *Machine) learnOp(milliseconds uint32) {
	if milliseconds > 0 {
		m.measured = milliseconds
	}
}

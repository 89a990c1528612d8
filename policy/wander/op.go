package wander

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// assumedOp is Δop before anybody has measured it: the paper's.
const assumedOp = 4 * time.Second

// smoothing is the weight of one run in the estimate, as in RFC 6298: it follows within some ten runs, and one that is ten
// times as long as the others moves it no more than they do together.
const smoothing = 8

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
	sample := min(max(took.Milliseconds(), 1), math.MaxUint32)
	estimate := int64(m.measured)
	if estimate == 0 {
		estimate = sample
	}
	m.learnOp(uint32(max(estimate+(sample-estimate)/smoothing, 1)))
	if m.holds {
		m.token.Op = m.measured
	}
}

// learnOp takes up an estimate. If it is longer than before, so is the silence that means anything.
func (m *Machine) learnOp(milliseconds uint32) {
	if milliseconds == 0 {
		return
	}
	m.measured = milliseconds
	m.regenerateAfter = max(m.regenerateAfter, m.maxInterval())
}

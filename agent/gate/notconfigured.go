package gate

import (
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// notConfigured stands in for the machine of a strict gate until its roster is known and agreed on. It sends nothing,
// accepts nothing and runs nothing.
type notConfigured struct{ why string }

var _ policy.Machine = (*notConfigured)(nil)

func (u *notConfigured) Step(_ policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	if ev.Kind == policy.Leave {
		out = append(out, policy.Effect{Kind: policy.Gone})
	}
	return out
}

func (u *notConfigured) NextWake() (policy.Time, bool)                        { return policy.Never, false }
func (u *notConfigured) Expects(*wire.Message) bool                           { return false }
func (u *notConfigured) Facts(_ policy.Time, out []policy.Fact) []policy.Fact { return out }
func (u *notConfigured) String() string                                       { return control.Agreeing }

func (u *notConfigured) Status(policy.Time) policy.Status {
	return policy.Status{Phase: u.String(), Why: u.why, NextRun: policy.Never}
}

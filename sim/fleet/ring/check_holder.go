package ring

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// HolderChecker holds that at most one member has the token.
type HolderChecker struct{ holder int }

// NewHolderChecker returns a checker of one run.
func NewHolderChecker() *HolderChecker { return &HolderChecker{holder: -1} }

// Watch checks one step.
func (k *HolderChecker) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() && o.Member == k.holder {
		k.holder = -1
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	for i := range o.Effects {
		switch e := &o.Effects[i]; e.Kind {
		case policy.Took:
			if k.holder >= 0 {
				return fmt.Errorf("holder: %s and %s both have the token", sim.MemberName(k.holder), sim.MemberName(o.Member))
			}
			k.holder = o.Member
		case policy.Gave:
			k.holder = -1
		case policy.Save, policy.Send, policy.Run, policy.Extend, policy.Stop, policy.Entrust, policy.Announce, policy.Tell, policy.Gone, policy.Proclaim:
		}
	}
	return nil
}

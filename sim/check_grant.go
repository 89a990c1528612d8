package sim

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// GrantChecker holds that there is no run without a grant: a member runs its operation only under a token that it holds,
// one run at a time, not when it is leaving, and only after it has saved that it does, so that a crash cannot make it
// forget.
type GrantChecker struct {
	running, leaving map[int]bool
}

// NewGrantChecker returns a checker of one run.
func NewGrantChecker() *GrantChecker {
	return &GrantChecker{running: map[int]bool{}, leaving: map[int]bool{}}
}

// Watch checks one step.
func (k *GrantChecker) Watch(c *Cluster, o *Occurrence) error {
	if o.Ends() {
		delete(k.running, o.Member)
		delete(k.leaving, o.Member)
	}
	if o.Kind != Stepped {
		return nil
	}
	if o.Event.Kind == policy.Finished {
		delete(k.running, o.Member)
	}
	if o.Event.Kind == policy.Leave {
		k.leaving[o.Member] = true
	}
	var saved *policy.State
	for i := range o.Effects {
		e := &o.Effects[i]
		if e.Kind == policy.Save {
			saved = &e.State
		}
		if e.Kind == policy.Run {
			if err := k.grant(c, o, saved, e.Token); err != nil {
				return err
			}
		}
	}
	return nil
}

// grant checks one run, before which saved was saved in the same step.
func (k *GrantChecker) grant(c *Cluster, o *Occurrence, saved *policy.State, t wire.Token) error {
	who := MemberName(o.Member)
	switch {
	case k.running[o.Member]:
		return fmt.Errorf("grant: %s runs twice at once", who)
	case k.leaving[o.Member]:
		return fmt.Errorf("grant: %s runs while it is leaving", who)
	case saved == nil || !saved.HasRun || saved.LastRun != o.At || saved.LastToken != t.ID || saved.Seq < t.Seq:
		return fmt.Errorf("grant: %s runs under %v#%d without having saved it", who, t.ID, t.Seq)
	}
	if s := c.Status(o.Member); o.Completes() && (!s.Holding || s.Token != t) {
		return fmt.Errorf("grant: %s runs under %v and does not hold it", who, t.ID)
	}
	k.running[o.Member] = true
	return nil
}

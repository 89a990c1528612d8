package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// standing is where a member stands, as a world knows it. Times are since when; Never, if it is not so.
type standing struct {
	// here is since when it has been here. due is when its operation is or was due next, and dueBefore when it was due
	// last. runs is since when that runs, failed since when the last one has failed. paused is until when it was
	// paused, as far as is known.
	here, due, dueBefore, runs, failed, paused policy.Time
	isDue, isPaused, leaves                    bool
	// passes is what is wrong with an operation that was granted, if it does start.
	passes error
}

type stageWorld struct {
	of            func(member int) int
	noticed, told time.Duration
	members       []standing
	// whole is since when the network has been; Never, if it is cut.
	whole policy.Time
	// asked is when hosts were asked last whether they are ready; Never, if none was.
	asked   policy.Time
	granted []int
}

// NewShapeCheckers has the checkers of a gate with a shape.
func NewShapeCheckers(s *sim.Shape, members int, m *sim.Membership) (all []sim.Watcher) {
	if s.MaxDown > 0 {
		all = append(all, NewDownChecker(s.MaxDown, members, m.Noticed()))
	}
	if s.Canaries > 0 {
		all = append(all, NewStageChecker(s.Stage, members, m.Noticed(), m.GossipAfter+m.Spread+1))
	}
	return all
}

// NewStageChecker checks that no member's operation starts while a member of an earlier stage is due, or runs, or has
// failed, if the one that starts must know it: both have been here, in a whole network, for the time noticed, and where
// the other one stands was told, which takes the time told; a member that has become due waits for that. of is the
// stage of a member. A host that has said no, or is paused, holds nobody up.
//
//go:noinline
func NewStageChecker(of func(member int) int, members int, noticed, told time.Duration) sim.Watcher {
	k := &stageWorld{of: of, noticed: noticed, told: told, members: make([]standing, members), asked: policy.Never}
	for i := range k.members {
		k.members[i] = standing{due: policy.Never, runs: policy.Never, failed: policy.Never}
	}
	return k
}

// Watch implements [sim.Watcher].
func (k *stageWorld) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	for _, i := range k.granted {
		if m := &k.members[i]; m.passes != nil && c.Up(i) && c.Operating(i) {
			return m.passes
		}
	}
	k.granted = k.granted[:0]
	switch o.Kind {
	case sim.Cut:
		k.whole = policy.Never
	case sim.Healed:
		k.whole = o.At
	case sim.Came, sim.Paused, sim.Slept:
		m := &k.members[o.Member]
		m.here, m.runs, m.leaves = o.At, policy.Never, m.leaves && o.Kind != sim.Came
	case sim.Crashed, sim.Departed:
		k.members[o.Member].runs = policy.Never
	case sim.Stepped:
		k.steps(c, o)
	case sim.Ignored, sim.Lost, sim.Duplicated, sim.Played, sim.RunGone:
	}
	return nil
}

func (k *stageWorld) steps(c *sim.Cluster, o *sim.Occurrence) {
	if c.Asks() {
		k.asked = o.At
	}
	me := &k.members[o.Member]
	me.leaves = me.leaves || o.On(policy.Leave)
	paused := c.PausedByDirective(o.Member)
	if paused || me.isPaused {
		me.paused = o.At
	}
	me.isPaused = paused
	if o.EndsOperation() {
		me.runs = policy.Never
		switch {
		case o.Event.Denied: // It was too late to start.
		case o.Event.Outcome != policy.Failed, o.Event.Exit == 0: // or it was stopped
			me.failed = policy.Never
		case me.failed == policy.Never:
			me.failed = o.At
		}
	}
	wasDue := me.dueBefore
	for range o.Operations() {
		me.runs = o.At
		me.passes = k.passes(c, o, wasDue)
		k.granted = append(k.granted, o.Member)
	}
	at := k.dueAt(c, o.Member)
	if at > o.At {
		me.due = at
	} else if !me.isDue {
		me.due = min(me.due, at)
	}
	if me.isDue = at <= o.At; me.isDue {
		me.dueBefore = me.due
	}
}

// dueAt is when the operation of a member is due, or a time at which it is due already; Never, if it is not to run.
func (k *stageWorld) dueAt(c *sim.Cluster, i int) policy.Time {
	return c.Shows(i, c.OperationDue(i))
}

// passes reports whom a member passes that starts its operation.
func (k *stageWorld) passes(c *sim.Cluster, o *sim.Occurrence, wasDue policy.Time) error {
	if k.whole == policy.Never || o.At.Sub(k.whole) <= k.noticed || !k.isHere(c, o.Member) {
		return nil
	}
	for i := range k.members {
		if k.of(i) >= k.of(o.Member) || !c.Up(i) || !k.isHere(c, i) {
			continue
		}
		if why := k.holds(c, i, wasDue); why != "" {
			return fmt.Errorf("stages: %s runs, and %s of an earlier stage %s", o.Who(), sim.MemberName(i), why)
		}
	}
	return nil
}

// isHere reports whether all must have noticed that a member is here, and it is not about to leave.
func (k *stageWorld) isHere(c *sim.Cluster, i int) bool {
	return !k.members[i].leaves && c.Now().Sub(max(k.members[i].here, c.AwayUntil(i))) > k.noticed
}

// holds is why a member holds the later stages up, whose member that starts was due at that time; empty if it does not.
func (k *stageWorld) holds(c *sim.Cluster, i int, wasDue policy.Time) string {
	m := &k.members[i]
	long := func(since policy.Time) bool { return since != policy.Never && c.Now().Sub(since) > k.told }
	free := c.PausedByDirective(i) || !long(m.paused)
	if c.Asks() {
		said := c.Answered(i)
		free = free || said.At > 0 && (!said.Yes || !long(said.At))
	} else if k.asked != policy.Never { // A reload has removed the question; what that changes is told, too.
		free = free || !long(k.asked)
	}
	due := k.dueAt(c, i)
	if m.isDue && due <= c.Now() {
		due = min(due, m.due)
	}
	switch {
	case long(m.runs):
		return "runs"
	case free:
		return ""
	case long(m.failed):
		return "has failed"
	case long(due), due < wasDue && due <= c.Now():
		return "is due"
	}
	return ""
}

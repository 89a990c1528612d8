package sim

import (
	"time"

	"github.com/wanderd/wanderd/policy/stages"
)

// Shape is what the members' shells add to the protocol: while too many members are down, or one of an earlier stage is
// due, a member counts as not ready, and a run that is granted nevertheless does not start. With its zero value there
// is neither.
type Shape struct {
	// MaxDown is how many members may be down, the one that runs included: those that have been here, and have failed
	// since. Zero is no limit.
	MaxDown int
	// Canaries is how many members are in the first stage: those with the lowest indexes. Second is how many are in the
	// second one, and the others are in the last. Without canaries there are no stages.
	Canaries, Second int
	// FirstWait is how long a member that is away holds up the later stages.
	FirstWait time.Duration
}

// Stage is the stage of member i.
func (s *Shape) Stage(i int) int {
	switch {
	case i < s.Canaries:
		return 0
	case i < s.Canaries+s.Second:
		return 1
	case s.Second > 0:
		return 2
	}
	return min(s.Canaries, 1)
}

// MostStaged is how many members a fleet with stages has at most, if a seed draws it: with more, a round takes too long
// to explore.
const MostStaged = 20

// DrawStages draws one or two stages before the last one, in a fleet of two or more. longest bounds how long a member
// that is away holds up the others.
func (d Dice) DrawStages(s *Shape, members int, longest time.Duration) {
	s.Canaries = 1 + d.IntN(min(members-1, 3))
	if left := members - 1 - s.Canaries; left > 0 && d.Sometimes(0.5) {
		s.Second = 1 + d.IntN(min(left, 3))
	}
	s.FirstWait = d.Time(time.Millisecond, longest)
}

// HeldUp reports whether the machine of member i, which must be up, was told in its last step that too many others are
// down for any run there; or, if own is true, that this or an earlier stage holds its own operation up.
func (c *Cluster) HeldUp(i int, own bool) bool {
	if c.shells.each == nil {
		return false
	}
	k := &c.shells.each[i]
	return k.barred || own && k.held
}

// Forbids reports whether the shape of member i, which has a grant, forbids a run by now, as its shell knows; own is
// true if its own operation is to run.
func (c *Cluster) Forbids(i int, own bool) bool {
	if c.shells.each == nil {
		return false
	}
	c.lookAround(int32(i))
	return c.isHeldUp(int32(i), false) || own && c.shells.each[i].watch.WaitsFor() != ""
}

// stages is the configuration of the members. Their names begin with their stages.
func (s *Shape) stages(settle time.Duration) (cfg stages.Config) {
	if s.Canaries == 0 {
		return cfg
	}
	cfg = stages.Config{First: []string{"0-*"}, Wait: s.FirstWait, Settle: settle}
	if s.Second > 0 {
		cfg.First = append(cfg.First, "1-*")
	}
	return cfg
}

// stageName is the name of member i, as the others see it.
func (s *Shape) stageName(i int) string { return string(rune('0'+s.Stage(i))) + "-" + MemberName(i) }

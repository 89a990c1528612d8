package sim

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Disk describes a member's disk. The zero value takes no time and never fails.
type Disk struct {
	// Takes is the duration of a save that is not slow.
	Takes time.Duration
	// Slow is the share of slow saves. SlowFor is their mean duration.
	Slow    float64
	SlowFor time.Duration
	// Fails is the share of saves that fail. Hangs is the share that do not end before the process or the fault does.
	Fails, Hangs float64
}

type saving struct {
	// own is this member's disk. It is nil if that is Config.Disk.
	own *Disk
	// busy is true while the save with that number is being written. fails and hangs are its outcome.
	busy, fails, hangs bool
	number             int32
	writing            policy.State
	// next is the state to save afterwards, if queued is true.
	queued bool
	next   policy.State
}

// SetDisk gives member i a disk of its own from its next save on.
func (c *Cluster) SetDisk(i int, d Disk) { c.savingOf(int32(i)).own = &d }

func (c *Cluster) savingOf(who int32) *saving {
	s := c.savings[who]
	if s == nil {
		s = &saving{}
		c.savings[who] = s
	}
	return s
}

// save begins or queues a save. If the disk takes no time, the save is done at once.
func (c *Cluster) save(who int32, state *policy.State) (done, failed bool) {
	if len(c.savings) == 0 && c.cfg.Disk == (Disk{}) {
		c.members[who].disk = *state
		return true, false
	}
	s := c.savingOf(who)
	if s.busy {
		s.queued, s.next = true, *state
		return false, false
	}
	disk := &c.cfg.Disk
	if s.own != nil {
		disk = s.own
	}
	takes := disk.Takes
	if happens(c.diskDice, disk.Slow) {
		takes = time.Duration(c.diskDice.ExpFloat64() * float64(disk.SlowFor))
	}
	s.fails, s.hangs = happens(c.diskDice, disk.Fails), happens(c.diskDice, disk.Hangs)
	switch {
	case takes > 0 || s.hangs:
		s.busy, s.writing = true, *state
		s.number++
		if !s.hangs {
			c.push(entrySaved, c.now.Add(takes), who, s.number)
		}
		return false, false
	case !s.fails:
		c.members[who].disk = *state
	}
	return true, s.fails
}

// saved ends a save. Then it begins the queued one, or tells the machine.
func (c *Cluster) saved(who, number int32) {
	s := c.savings[who]
	if !s.busy || s.number != number {
		return
	}
	s.busy = false
	failed := s.fails
	if !failed {
		c.members[who].disk = s.writing
	}
	if s.queued {
		s.queued = false
		done := false
		if done, failed = c.save(who, &s.next); !done {
			return
		}
	}
	c.event.Kind, c.event.Failed = policy.Saved, failed
	c.step(who, &c.event, about{})
}

// loseSaves ends the saves of a process that dies. A save under way may reach the disk or not. If the process ends
// gracefully, it waits for the save.
func (c *Cluster) loseSaves(who int32, inOrder bool) {
	s := c.savings[who]
	if s == nil || !s.busy {
		return
	}
	s.busy = false
	switch {
	case s.fails || s.hangs:
	case inOrder && s.queued:
		c.members[who].disk = s.next
	case inOrder || c.diskDice.Uint64()&1 == 0:
		c.members[who].disk = s.writing
	}
	s.queued = false
}

// mendDisks makes all disks fast and ends saves that hang.
func (c *Cluster) mendDisks() {
	c.cfg.Disk = Disk{}
	for i := range c.members {
		if s := c.savings[int32(i)]; s != nil {
			s.own = nil
			if s.busy && s.hangs {
				c.push(entrySaved, c.now, int32(i), s.number)
			}
		}
	}
}

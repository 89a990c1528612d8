package check

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// turns are the turns of a member's operation and its callers, counted from when one of them waits for the other.
type turns struct {
	// waits is true while a caller waits, due while the member's own operation is due, both as of the last step.
	waits, due bool
	// before is true if the other one waited already when the present run began. serves is true if this run is for a
	// caller.
	before, serves bool
	// operations is how many runs of the operation have begun and were not denied since a caller waits. commands is how
	// many runs for callers have begun since the operation is due.
	operations, commands int
}

// NewTurnsChecker checks that a member's operation and its callers take turns where both want its grants. An operation
// that is always due delays a caller by the run that goes on when the caller comes, and by one later run. Endless
// callers delay the operation by one of their runs. A run that is denied is nobody's turn. Pauses and restarts forget
// whose turn it is.
//
//go:noinline
func NewTurnsChecker() sim.Watcher {
	return sim.EachLife(func(me *turns, c *sim.Cluster, o *sim.Occurrence) error {
		switch {
		case o.On(policy.Wanted):
			me.waits = true
		case o.On(policy.Unwanted):
			me.waits, me.operations = false, 0
			me.before = me.before && me.serves // A caller that comes now has not waited since before the run.
		case o.On(policy.Finished) && o.Event.Denied:
			me.waits = me.waits || o.Demanded // The caller still waits.
		case o.On(policy.Finished) && me.before && o.Demanded:
			me.commands++
		case o.On(policy.Finished) && me.before:
			me.operations++
		}
		if o.On(policy.Finished) && o.Demanded && !o.Event.Denied {
			me.operations = 0
		}
		for e := range o.Did(policy.Run) {
			switch {
			case e.Demanded && me.due && me.commands > 0:
				return fmt.Errorf(
					"turns: %s runs for a second caller, and its own operation has been due since before the first",
					o.Who())
			case !e.Demanded && me.waits && me.operations > 0:
				return fmt.Errorf(
					"turns: %s runs its own operation twice, and a caller has been waiting since before the first run",
					o.Who())
			case e.Demanded:
				me.before, me.waits = me.due, false
			default:
				me.before, me.commands = me.waits, 0
			}
			me.serves = e.Demanded
		}
		if !o.Completes() {
			return nil
		}
		hindered := c.PausedByDirective(o.Member) || c.HeldUp(o.Member, true)
		if me.due = !hindered && c.Ready(o.Member) && c.OperationDue(o.Member) <= c.Instant(o.Member).Time; !me.due {
			me.commands = 0
		}
		if hindered {
			me.operations = 0
		}
		return nil
	})
}

// schedule is when a member's own operation is due, and what the disk has about it.
type schedule struct {
	// due is when the operation was due before the present run for a caller. ran is the time of the operation's last
	// run, and saved the last time that was saved for it.
	due, ran, saved policy.Time
	// unused is true if a token has come during the present run that is not used for the rest of a soak.
	unused bool
}

// NewScheduleChecker checks that a member's runs for callers change nothing for its own operation: the operation is due
// at the same time as before, and the run is not saved as one of the operation. exact is true if nothing else delays
// the operation: no run under another token, and no window. A soak that a stop has cut short does, and so does that of
// another host, the rest of which the note unused tells of.
func NewScheduleChecker(exact bool, unused policy.Note) sim.Watcher {
	return sim.EachLife(func(me *schedule, c *sim.Cluster, o *sim.Occurrence) error {
		if o.On(policy.Started) {
			me.ran = o.Event.State.LastRun
			me.saved = me.ran
		}
		for i := range o.Effects {
			switch e := &o.Effects[i]; {
			case e.Kind == policy.Save:
				me.saved = e.State.LastRun
			case e.Kind == policy.Tell && e.Note == unused:
				me.unused = true
			case e.Kind == policy.Run && !e.Demanded:
				me.ran = o.At
			case e.Kind == policy.Run && me.saved > me.ran:
				return fmt.Errorf("schedule: %s runs for a caller, and has saved a run of its own operation at %s",
					o.Who(), sim.Seconds(me.saved))
			}
		}
		if !exact || !o.Completes() || c.PausedByDirective(o.Member) {
			return nil
		}
		now := o.At
		due := c.OperationDue(o.Member)
		ends := o.On(policy.Finished) && o.Demanded && !o.Event.SoakGoesOn && !me.unused
		if ends && max(due, now) != max(me.due, now) {
			return fmt.Errorf(
				"schedule: the operation of %s was due at %s, and since a caller's run has ended it is at %s",
				o.Who(), sim.Seconds(me.due), sim.Seconds(due))
		}
		if !c.Running(o.Member) && !o.Does(policy.Run) {
			me.due, me.unused = due, false
		}
		return nil
	})
}

package wander

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/sim"
)

// attempts are a member's last runs.
type attempts struct {
	failures int
	// granted is when the last run was granted. started is when the last run began that was not denied. due is when the
	// next one may begin.
	granted, started, due policy.Time
	// known is true if due has a meaning. saves is true if it was to be saved last, and saved is true if it is on the
	// disk.
	known, saves, saved bool
	// unused is true if a former holder has gone in its soak, and the token that came is not used yet.
	unused bool
}

// NewRetryChecker checks when a member is due after its last run: Δmin after the start of one that has succeeded; after
// a failed one when retry_after is over, doubled for each further failure in a row, and at the latest after Δmin;
// retry_after after one that said "not now". A restart changes nothing of what was saved. exact is true if nothing else
// delays the next run: no run under another token, and no window; a soak that a stop has cut short does, and one of a
// former holder.
func NewRetryChecker(minInterval, retryAfter time.Duration, exact bool) sim.Watcher {
	return sim.EachMember(func(a *attempts, c *sim.Cluster, o *sim.Occurrence) error {
		switch {
		case o.Forgot:
			*a = attempts{}
		case o.On(policy.Started):
			if err := a.restart(o, minInterval); err != nil {
				return err
			}
		case o.On(policy.Saved):
			a.saved = a.saves && !o.Event.Failed
		case o.EndsOperation() && !o.Event.Denied:
			a.finish(o, minInterval, retryAfter)
			if !o.Completes() || c.PausedByDirective(o.Member) {
				break
			}
			next, due := max(c.OperationDue(o.Member), o.At), max(a.due, o.At)
			delayed := !exact || o.Event.SoakGoesOn || a.unused
			if next < due || next > due && !delayed {
				return fmt.Errorf(
					"retry: a run of %s %v, the %dth failure in a row, and the next one is due at %s instead of %s",
					o.Who(), o.Event.Outcome, a.failures, sim.Seconds(next), sim.Seconds(due))
			}
		}
		for i := range o.Effects {
			switch e := &o.Effects[i]; {
			case e.Kind == policy.Took:
				a.unused = false
			case e.Kind == policy.Tell && e.Note == guardian.NoteUnused:
				a.unused = true
			case e.Kind == policy.Save:
				// A grant is saved as a run that starts at that time.
				a.saves, a.saved = a.known && e.State.LastRun == a.started, false
			case e.Kind == policy.Run && e.Demanded:
			case e.Kind == policy.Run && a.known && o.At < a.due:
				return fmt.Errorf("retry: %s runs at %s, and is due at %s", o.Who(), sim.Seconds(o.At),
					sim.Seconds(a.due))
			case e.Kind == policy.Run:
				a.granted = o.At
			}
		}
		return nil
	})
}

// finish decides when the next run is due.
func (a *attempts) finish(o *sim.Occurrence, minInterval, retryAfter time.Duration) {
	a.started = a.granted
	wait := retryAfter
	switch o.Event.Outcome {
	case policy.Succeeded:
		wait, a.failures = minInterval, 0
	case policy.NotNow:
		a.failures = 0
	case policy.Failed:
		a.failures++
		for range a.failures - 1 {
			wait = min(2*wait, minInterval)
		}
	}
	a.known, a.due = true, min(o.At.Add(wait), a.started.Add(minInterval))
}

// restart compares what a member finds on its disk with what it was last told to save.
func (a *attempts) restart(o *sim.Occurrence, minInterval time.Duration) error {
	memo, ends := soft.MemoOf(&o.Event.State.Memo), o.Event.State.LastRun.Add(minInterval)
	if memo.Wait > 0 {
		ends = o.Event.State.LastRun.Add(memo.Wait)
	}
	if a.saved && (ends != a.due || int(memo.Failures) != a.failures) {
		return fmt.Errorf("retry: %s was due at %s after %d failures, and since its restart it is at %s after %d",
			o.Who(), sim.Seconds(a.due), a.failures, sim.Seconds(ends), memo.Failures)
	}
	last := o.Event.State.LastRun
	*a = attempts{failures: int(memo.Failures), granted: last, started: last, known: o.Event.State.HasRun, due: ends}
	return nil
}

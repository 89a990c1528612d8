package wander

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// RetryChecker checks when a member is due after its last run: Δmin after the start of one that has succeeded; after a failed one when
// retry_after is over, doubled for each further failure in a row, and at the latest after Δmin; retry_after after one that said "not now".
// A restart changes nothing of what was saved.
type RetryChecker struct {
	minInterval, retryAfter time.Duration
	// exact says that nothing else delays the next run: no run under another token, and no window.
	exact   bool
	members map[int]*attempts
}

// attempts are a member's last runs.
type attempts struct {
	failures int
	// granted is when a run was granted last, started when the last one began that was not denied, and due when the next one may.
	granted, started, due policy.Time
	// known says that due means something, saves that it was to be saved last, and saved that it is on the disk.
	known, saves, saved bool
}

// NewRetryChecker returns a checker of one run.
func NewRetryChecker(minInterval, retryAfter time.Duration, exact bool) *RetryChecker {
	return &RetryChecker{minInterval: minInterval, retryAfter: retryAfter, exact: exact, members: map[int]*attempts{}}
}

// Watch implements [sim.Watcher].
func (k *RetryChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Kind != sim.Stepped {
		return nil
	}
	a := k.members[o.Member]
	if a == nil {
		a = &attempts{}
		k.members[o.Member] = a
	}
	switch {
	case o.Event.Kind == policy.Started:
		if err := k.restart(a, o); err != nil {
			return err
		}
	case o.Event.Kind == policy.Saved:
		a.saved = a.saves && !o.Event.Failed
	case o.Event.Kind == policy.Finished && !o.Event.Denied:
		k.finish(a, o)
	}
	if o.Event.Kind == policy.Finished && !o.Event.Denied && o.Completes() && !c.PausedByOrder(o.Member) {
		next, due := max(c.Status(o.Member).NextRun, o.At), max(a.due, o.At)
		if next < due || next > due && k.exact {
			return fmt.Errorf("retry: a run of %s %v, the %dth failure in a row, and the next one is due at %s instead of %s",
				sim.MemberName(o.Member), o.Event.Outcome, a.failures, sim.Seconds(next), sim.Seconds(due))
		}
	}
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Save:
			// A grant is saved as a run that starts then.
			a.saves, a.saved = a.known && e.State.LastRun == a.started, false
		case e.Kind == policy.Run && a.known && o.At < a.due:
			return fmt.Errorf("retry: %s runs at %s, and is due at %s", sim.MemberName(o.Member), sim.Seconds(o.At), sim.Seconds(a.due))
		case e.Kind == policy.Run:
			a.granted = o.At
		}
	}
	return nil
}

// finish decides when the next run is due.
func (k *RetryChecker) finish(a *attempts, o *sim.Occurrence) {
	a.started = a.granted
	wait := k.retryAfter
	switch o.Event.Outcome {
	case policy.Succeeded:
		wait, a.failures = k.minInterval, 0
	case policy.NotNow:
		a.failures = 0
	case policy.Failed:
		a.failures++
		for range a.failures - 1 {
			wait = min(2*wait, k.minInterval)
		}
	}
	a.known, a.due = true, min(o.At.Add(wait), a.started.Add(k.minInterval))
}

// restart compares what a member finds on its disk with what it was told to be saved.
func (k *RetryChecker) restart(a *attempts, o *sim.Occurrence) error {
	memo, ends := wander.MemoOf(&o.Event.State.Memo), o.Event.State.LastRun.Add(k.minInterval)
	if memo.Wait > 0 {
		ends = o.Event.State.LastRun.Add(memo.Wait)
	}
	if a.saved && (ends != a.due || int(memo.Failures) != a.failures) {
		return fmt.Errorf("retry: %s was due at %s after %d failures, and since its restart it is at %s after %d",
			sim.MemberName(o.Member), sim.Seconds(a.due), a.failures, sim.Seconds(ends), memo.Failures)
	}
	*a = attempts{failures: int(memo.Failures), started: o.Event.State.LastRun, known: o.Event.State.HasRun, due: ends}
	return nil
}

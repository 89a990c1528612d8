package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// keptRun is a run whose grant outlives its host.
type keptRun struct {
	open bool
	// downAt is when its host went down, or its agent; backAt when it was back. Zero means that it has not.
	downAt, backAt policy.Time
	// viewAt is when its view changed last.
	viewAt policy.Time
	// granted is true until its run has ended, and diedAt when it died in that; zero if it did not.
	granted bool
	diedAt  policy.Time
}

// NewKeptChecker checks that nobody runs while another member is away under its grant: for keep after its last word,
// and longer if it was back at least settle before that was over. It does not count if its view had changed, or another
// member had crashed, less than a patience before it went down, or if a token was made while another one had crashed:
// that may have been its guardian. Who makes a token may not see its holder and guardians any more, or not yet again:
// until three times keep after such a member is back it does not count either. Nor does it while a member that was
// alone has gone on, and several others come back, perhaps with a copy of their own: until three times keep after the
// last of them. And who comes back when its grant is over may meet nobody who knows that others have gone on: until
// three times keep after that. Nor does it once a guardian has come back in a fleet that is large: so large that a
// guardian asks only the others.
//
//go:noinline
func NewKeptChecker(keep, patience, settle time.Duration, large bool) sim.Watcher {
	var runs []keptRun
	var crashed, until policy.Time
	aloneWentOn, down, unseen := false, map[int]bool{}, map[int]bool{}
	return sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
		if runs == nil {
			runs = make([]keptRun, c.Members())
		}
		switch o.Kind {
		case sim.Lost, sim.Duplicated, sim.Played, sim.Cut, sim.Healed:
			return nil
		case sim.Stepped, sim.Ignored, sim.Came, sim.Crashed, sim.RunGone, sim.Departed, sim.Paused, sim.Slept:
		}
		me := &runs[o.Member]
		switch {
		case o.On(policy.Finished), o.Does(policy.Gave), o.Kind == sim.Departed:
			me.open, me.granted = false, false
		case o.Kind == sim.Crashed && me.open && (me.downAt == 0 || me.backAt > 0):
			me.downAt, me.backAt = o.At, 0
			me.open = o.At.Sub(max(crashed, me.viewAt)) > patience
		case o.Kind == sim.Came && me.open:
			me.backAt = o.At
		case o.On(policy.PeersChanged):
			me.viewAt = o.At
		}
		switch {
		case o.Kind == sim.Crashed && me.granted:
			me.diedAt = o.At
		case o.Kind == sim.Came && me.diedAt > 0:
			if o.At >= me.diedAt.Add(keep-settle) {
				until = max(until, o.At.Add(3*keep))
			}
			me.granted, me.diedAt = false, 0
		}
		if o.Kind == sim.Came && large && keptBy(c, o.Member) {
			until = policy.Never
		}
		if delete(down, o.Member); o.Kind == sim.Crashed && !me.open {
			crashed, down[o.Member] = o.At, true
		}
		if o.Kind == sim.Came && unseen[o.Member] {
			delete(unseen, o.Member)
			until = max(until, o.At.Add(3*keep))
		}
		for e := range o.Did(policy.Took) {
			if e.Cause == policy.CauseMade && len(down) > 0 {
				clear(runs)
			}
			if e.Cause == policy.CauseMade && o.At > 0 {
				for i := range runs {
					if unseen[i] = !slices.Contains(c.View(o.Member), c.ID(i)); unseen[i] && c.Up(i) {
						until = max(until, o.At.Add(3*keep))
					}
				}
			}
			goesOn := e.Cause == policy.CauseMade || e.Cause == policy.CauseRevived
			aloneWentOn = aloneWentOn || goesOn && o.At > 0 && c.Members() > 2 && len(c.View(o.Member)) < 2
		}
		if aloneWentOn {
			until, aloneWentOn = max(until, o.At.Add(3*keep)), !allUp(c)
		}
		if !o.Does(policy.Run) || o.At < until {
			return nil
		}
		for i := range runs {
			r := &runs[i]
			over := r.downAt.Add(keep - settle)
			switch {
			case !r.open || i == o.Member:
			case r.downAt == 0, o.At < over, r.backAt > 0 && r.backAt.Add(settle) < over:
				return fmt.Errorf("kept: %s runs, and %s has a grant that outlives its host (down at %s, back at %s)",
					o.Who(), sim.MemberName(i), sim.Seconds(r.downAt), sim.Seconds(r.backAt))
			default:
				r.open = false
			}
		}
		*me = keptRun{open: true, viewAt: me.viewAt, granted: true}
		return nil
	})
}

func allUp(c *sim.Cluster) bool {
	for i := range c.Members() {
		if !c.Up(i) {
			return false
		}
	}
	return true
}

// keptBy reports whether the disk of a member has a grant that outlives a host.
func keptBy(c *sim.Cluster, member int) bool {
	kept := c.Disk(member).Kept
	return kept.Is()
}

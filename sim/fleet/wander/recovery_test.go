package wander

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// holder returns the member that holds a token, or -1.
func holder(c *sim.Cluster) int {
	for i := range c.Members() {
		if c.Up(i) && c.Status(i).Holding {
			return i
		}
	}
	return -1
}

// running returns the member that runs, or -1.
func running(c *sim.Cluster) int {
	for i := range c.Members() {
		if c.Up(i) && c.Running(i) {
			return i
		}
	}
	return -1
}

// until lets time pass until a condition holds, to the second.
func until(t *testing.T, c *sim.Cluster, most time.Duration, holds func() bool) {
	t.Helper()
	for end := c.Now().Add(most); !holds(); {
		if c.Now() >= end {
			t.Fatalf("it does not come true within %v", most)
		}
		if err := c.Run(c.Now().Add(time.Second)); err != nil {
			t.Fatal(err)
		}
	}
}

// In a fleet whose operation takes four seconds, one run hangs for ten minutes, and then the holder and all guardians
// die. The last resort comes three min_intervals after the last token, as it would have before.
func TestARunThatHangsOnceDelaysNoRecovery(t *testing.T) {
	s := fleet(33)
	s.Walk, s.Backups, s.MeasureOp = wander.Sweep, 2, true
	s.MinInterval, s.MaxInterval = 20*time.Minute, 0
	c := s.NewCluster(s.Checkers()...)
	s.start(c)
	// The last member in the lap hangs, so that all learn of it before another member runs.
	until(t, c, 5*time.Hour, func() bool {
		if c.Now() < policy.Time(2*time.Hour) || running(c) < 0 {
			return false
		}
		for i := range s.Members {
			if c.Now().Sub(c.Status(i).LastRun) > 3*time.Minute {
				return false
			}
		}
		return true
	})
	c.Prolong(running(c), 10*time.Minute)
	if err := c.Run(c.Now().Add(11 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	until(t, c, time.Minute, func() bool { return holder(c) >= 0 })
	last := holder(c)
	held := Detail(c, last)
	trail := held.Trail()
	for _, id := range append([]wire.MemberID{c.ID(last)}, trail[:trail.Len()]...) {
		c.Crash(sim.IndexOf(id))
	}
	until(t, c, 3*s.MinInterval+time.Minute, func() bool { return running(c) >= 0 })
}

// Crashes cost a fleet the runs and tokens that die in them, and one patience for each offer to a member that is gone,
// but no wait for another member's turn. Of 20 members one in 25 is down, and the others hear of it late; still they
// run three quarters as often as they would without crashes.
func TestFrequentCrashesCostLittle(t *testing.T) {
	s := fleet(20)
	s.Walk, s.Backups, s.MeasureOp, s.MinInterval, s.MaxInterval = wander.Sweep, 2, true, 10*time.Second, 0
	s.Hook.Takes = 410 * time.Millisecond
	s.Membership = sim.MeasuredMembership(s.Members)
	runs := func() (sum int) {
		k := newTally(s.Members)
		if _, err := s.Measure(t.Context(), nil, k); err != nil {
			t.Fatal(err)
		}
		for _, n := range k.runs {
			sum += n
		}
		return sum
	}
	calm := runs()
	s.Faults = sim.Faults{CrashEvery: 2 * time.Minute, DownFor: 5 * time.Second}
	stormy := runs()
	t.Logf("%d runs with crashes, %d without", stormy, calm)
	if stormy*4 < calm*3 {
		t.Error("too few")
	}
}

// births are the times at which tokens were made. It is a [sim.Watcher].
type births []policy.Time

func (b *births) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	for i := range o.Effects {
		if e := &o.Effects[i]; e.Kind == policy.Took && e.Cause == policy.CauseMade {
			*b = append(*b, o.At)
		}
	}
	return nil
}

// Runs that their timeout ends tell nothing about op, so no member ever has an estimate, and without guardians no
// member asks before it makes a token. But laps take as long as they take, and soon no member takes the token for lost
// any more. On a random walk, where some members wait for many laps, the number of tokens is a third of what it would
// be.
func TestAFleetWhoseRunsAllTimeOutSoonMakesNoMoreTokens(t *testing.T) {
	for walk, most := range map[wander.Walk]int{wander.Sweep: 0, wander.Shuffle: 0, wander.Random: 120} {
		s := fleet(8)
		s.Walk, s.MeasureOp, s.MinInterval, s.MaxInterval = walk, true, time.Minute, 0
		s.Hook.Hangs, s.Hook.Timeout = 1, time.Minute
		var made births
		c := s.NewCluster(append(s.Checkers(), &made)...)
		s.start(c)
		if err := c.Run(policy.Time(40 * time.Hour)); err != nil {
			t.Fatal(err)
		}
		late := slices.DeleteFunc(made, func(at policy.Time) bool { return at < policy.Time(4*time.Hour) })
		if len(late) > most {
			t.Errorf("%v: %d tokens are made after four hours, want at most %d", walk, len(late), most)
		}
	}
}

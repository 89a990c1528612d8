package wander

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
)

// Outcome is the result of a run.
type Outcome struct {
	Steps uint64
	// Err is the first broken rule, or nil.
	Err error
	// At is when the run ended.
	At policy.Time
}

// Explore runs the scenario in three phases, with all checkers. First there are faults. Then, in some scenarios, one
// fault stands for long, and members that can talk to each other must run; or all faults end for a core only, in which
// each member must have its turn. Then everything is healed, and the cluster
// must make progress: "exactly one token is present in the system", and every member runs. If some members are further
// away than others, each must have its turn then. The watchers are called after the checkers.
func (s *Scenario) Explore(watchers ...sim.Watcher) Outcome {
	progress, served := NewProgress(s), check.NewServed(s.Members)
	ran := runners{}
	c := s.NewCluster(slices.Concat(s.Checkers(), []sim.Watcher{progress, ran, served}, watchers)...)
	s.start(c)
	end := c.StartFaults(s.Faults)
	err := c.Run(policy.Time(s.Duration))
	sound := s.Network.Sound()
	switch {
	case err != nil:
	case s.Core.Of > 0:
		err = s.healCore(c, ran, served)
	default:
		end(sound)
		err = s.stand(c, ran, sound)
	}
	if err == nil {
		err = s.recover(c, progress, c.Now().Add(s.bound(c)))
	}
	if err == nil {
		err = s.takeTurns(c, ran)
	}
	return Outcome{Steps: c.Steps(), Err: err, At: c.Now()}
}

// Measure runs the scenario for its Duration with its faults, without checkers and without healing afterwards. It
// returns the time that was reached, and the error of a watcher, if there was one. That time is less than the Duration
// if ctx is cancelled or a watcher has an error.
//
// progress, if not nil, is called now and then with the time that was reached. It should return soon.
func (s *Scenario) Measure(ctx context.Context, progress func(now policy.Time), watchers ...sim.Watcher) (policy.Time,
	error,
) {
	c := s.NewCluster(watchers...)
	s.start(c)
	c.StartFaults(s.Faults)
	return c.RunFor(ctx, policy.Time(s.Duration), progress)
}

// recover lets time pass until there is progress, or the deadline.
func (s *Scenario) recover(c *sim.Cluster, p *Progress, deadline policy.Time) error {
	quiet := s.quiet()
	for c.Now() < deadline {
		if err := c.Run(c.Now().Add(max(quiet/8, time.Millisecond))); err != nil {
			return err
		}
		if p.Reached(c, quiet) {
			return nil
		}
	}
	return fmt.Errorf(
		"liveness: the faults ended long ago, and still there is no one token under which every member runs: "+
			"%d of %d have run under the last one, which has been the only one for %v of %v",
		len(p.ran), s.Members, c.Now().Sub(p.since()), quiet)
}

// turnLaps is for how many laps a member that is due may wait. In a shuffle its turn may be two laps after the last
// one, and the offers of members that have not met it yet may fail.
const turnLaps = 4

// takeTurns lets a healthy fleet live, some of whose members are further away than others, and checks that each has its
// turn.
func (s *Scenario) takeTurns(c *sim.Cluster, ran runners) error {
	hindered := s.onDemand() || s.Windows != nil || s.Ready != sim.Ready{} || s.Operators != sim.Operators{} ||
		s.Disk != sim.Disk{} || s.Hook.Late > 0 || s.Shape != sim.Shape{}
	if s.Network.Distant == 0 || s.Walk == wander.Random || hindered || s.MixedSlots || s.SlotsShare > 0 {
		return nil
	}
	clear(ran)
	laps := time.Duration(turnLaps)
	if s.hasCallers() {
		laps *= 2 // A caller may take a member's turn, and the operation the next one.
	}
	while := max(s.MinInterval, s.RetryAfter) + laps*s.lap() + s.Hook.Longest()
	if err := c.Run(c.Now().Add(while)); err != nil {
		return err
	}
	for i := range c.Members() {
		if c.Up(i) && !ran[i] {
			return fmt.Errorf("turns: all is well, and %s has not run for %v, in which there are %d laps",
				sim.MemberName(i), while, laps)
		}
	}
	return nil
}

// bound returns the longest time that a healed cluster may need.
func (s *Scenario) bound(c *sim.Cluster) time.Duration { return s.settles() + 30*s.silence(c) }

// silence is the longest time after which a member takes a token for lost, or that a lap takes.
func (s *Scenario) silence(c *sim.Cluster) time.Duration {
	longest := max(s.MaxIntervalInForce(), s.lap())
	for i := range c.Members() {
		if c.Up(i) {
			longest = max(longest, Detail(c, i).RegenerateAfter)
		}
	}
	return longest
}

// settles is how long it takes until members, operators, hosts and callers are as they are in a fleet that is well.
func (s *Scenario) settles() time.Duration {
	m := s.Membership
	settle := m.RejoinAfter + max(m.DetectAfter+10*m.DetectMore, m.CutAfter) + m.Spread + stopTimeout
	if s.Operators != (sim.Operators{}) || s.Shape.Canaries > 0 {
		settle += sim.ResumedAfter
	}
	settle += 2*s.Shape.FirstWait + 10*(m.GossipAfter+m.Spread)
	if s.Windows != nil {
		settle += 2 * windowedFor * time.Minute
	}
	if s.SlotsShare > 0 {
		settle += 2 * check.Steady
	}
	settle += 10*s.Keep + s.Hook.Reboots.Looked
	return settle + s.Demand.Longest()
}

// quiet returns for how long there must be one token of each slot: long enough for any other to show itself. Without
// guardians no member asks before it makes a token, and a fleet whose laps are longer than max_interval has several
// tokens now and then.
func (s *Scenario) quiet() time.Duration {
	if s.Backups == 0 {
		return s.MaxIntervalInForce()
	}
	return max(s.MaxIntervalInForce(), s.lap())
}

package hunt

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/wanderd/wanderd/sim"
	calling "github.com/wanderd/wanderd/sim/fleet/call"
	ringing "github.com/wanderd/wanderd/sim/fleet/ring"
	treeing "github.com/wanderd/wanderd/sim/fleet/tree"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/trace"
)

// Subject is a protocol with its worlds and rules, in which a hunt looks for bugs.
type Subject struct {
	// Name is the name of its policy. Words are the words of its traces.
	Name  string
	Words trace.Words
	// flags are the command-line flags that choose it.
	flags string
	// parameters returns the parameters that a seed draws, one a line.
	parameters func(seed uint64) string
	explore    func(seed uint64, watchers ...sim.Watcher) wandering.Outcome
	// covers is true if it has a list of what has to occur: see [wandering.Coverage].
	covers bool
}

// Subjects returns all subjects. The first is the default.
func Subjects() []Subject { return []Subject{wander(), call(), ring(), tree()} }

// SubjectOf returns the subject of a policy.
func SubjectOf(name string) (Subject, error) {
	var names []string
	for _, f := range Subjects() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return Subject{}, fmt.Errorf("policy %s has no scenarios that seeds draw: choose %s", name,
		strings.Join(names, " or "))
}

// Explore runs the scenario of a seed with all checkers, and then the other watchers. A panic of a machine counts as a
// broken rule, too.
func (f *Subject) Explore(seed uint64, watchers ...sim.Watcher) (o wandering.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = wandering.Outcome{Err: fmt.Errorf("panic: %v\n\n%s", p, debug.Stack())}
		}
	}()
	return f.explore(seed, watchers...)
}

func wander() Subject {
	f := drawn(wandering.Draw, (*wandering.Scenario).String, (*wandering.Scenario).Explore)
	f.Name, f.Words, f.covers = "wander", wandering.Words(), true
	return f
}

// Byzantine is the subject of fleets with a wandering token in which one member lies. Nothing else goes wrong there,
// and a hunt of another subject has no Byzantine member.
func Byzantine() Subject {
	f := drawn(wandering.DrawByzantine, (*wandering.ByzantineScenario).String, (*wandering.ByzantineScenario).Explore)
	f.Name, f.Words, f.flags = "wander", wandering.Words(), " --liar"
	return f
}

func call() Subject {
	f := watched("call", calling.Draw, (*calling.Scenario).Explore)
	f.Words = calling.Words()
	return f
}

func ring() Subject { return watched("ring", ringing.Draw, (*ringing.Scenario).Explore) }

func tree() Subject {
	return watched("tree", treeing.Draw, func(s *treeing.Scenario, watchers ...sim.Watcher) error {
		_, err := treeing.Explore(*s, watchers...)
		return err
	})
}

// watched returns the subject of a policy whose runs have only an error: a watcher counts their steps.
func watched[S any](policy string, draw func(seed uint64) S,
	explore func(s *S, watchers ...sim.Watcher) error,
) Subject {
	parameters := func(s *S) string { return trace.Parameters(*s) }
	f := drawn(draw, parameters, func(s *S, watchers ...sim.Watcher) (reached wandering.Outcome) {
		reached.Err = explore(s, append(watchers, sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
			reached.Steps, reached.At = c.Steps(), o.At
			return nil
		}))...)
		return reached
	})
	f.Name, f.flags = policy, " --policy "+policy
	return f
}

// drawn returns the subject of scenarios that a seed draws.
func drawn[S any](
	draw func(seed uint64) S, parameters func(*S) string, explore func(s *S, watchers ...sim.Watcher) wandering.Outcome,
) Subject {
	return Subject{
		parameters: func(seed uint64) string {
			s := draw(seed)
			return parameters(&s)
		},
		explore: func(seed uint64, watchers ...sim.Watcher) wandering.Outcome {
			s := draw(seed)
			return explore(&s, watchers...)
		},
	}
}

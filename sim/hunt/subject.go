package hunt

import (
	"context"
	"fmt"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/marks"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	calling "github.com/wanderd/wanderd/sim/fleet/call"
	ringing "github.com/wanderd/wanderd/sim/fleet/ring"
	treeing "github.com/wanderd/wanderd/sim/fleet/tree"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/reduce"
	"github.com/wanderd/wanderd/sim/trace"
)

// Subject is a protocol with its worlds and rules, in which a hunt looks for bugs.
type Subject struct {
	// Name is the name of its policy. Words are the words of its traces.
	Name  string
	Words trace.Words
	// World is what goes wrong in its fleets.
	World World
	// flags are the command-line flags that choose it.
	flags string
	// kind is the kind of its scenarios in files: see [reduce.KindKey].
	kind string
	// parameters returns the parameters that a seed draws, one a line.
	parameters func(seed uint64) string
	// drawn returns the names of the parameters that a seed does not leave at zero.
	drawn   func(seed uint64) []string
	explore func(seed uint64, watchers ...sim.Watcher) wandering.Outcome
	// smaller makes the scenario of a seed that breaks a rule smaller, and writes it. read returns the subject that has
	// a written scenario for every seed. Both are nil if its scenarios cannot be written.
	smaller func(seed uint64) string
	read    func(content map[string]any) (Subject, error)
	// covers is true if it has a list of what has to occur: see [wandering.Coverage].
	covers bool
	// marks are the rare branches that its machines mark. guided hunts with them. Both are nil if they mark none.
	marks  marks.Names
	guided func(f *Subject, from uint64) guiding
}

// guiding is a guided hunt.
type guiding interface {
	hunt(ctx context.Context, o *Options) *Report
}

// World is what goes wrong in the fleets of a subject.
type World string

const (
	// Plain fleets have faults, which all end.
	Plain World = ""
	// Core fleets have faults that end for a part of the fleet first, which has to go on without the others.
	Core World = "core"
	// Byzantine fleets have one Byzantine member, and nothing else goes wrong.
	Byzantine World = "Byzantine"
)

// Subjects returns the plain subjects, one for each policy. The first is the default.
func Subjects() []Subject { return []Subject{wanders(), called(), ring(), tree()} }

// All returns all subjects, those of all worlds.
func All() []Subject {
	all := Subjects()
	for _, f := range []Subject{wanderCore(), callCore()} {
		all = append(all, in(Core, f, " --core"))
	}
	for _, f := range []Subject{wanderByzantine(), callByzantine()} {
		all = append(all, in(Byzantine, f, " --liar"))
	}
	return all
}

// SubjectOf returns the subject of a policy, and of a world.
func SubjectOf(name string, world World) (Subject, error) {
	var names []string
	for _, f := range All() {
		if f.World != world {
			continue
		}
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	what := "scenarios"
	if world != Plain {
		what = "such scenarios"
	}
	return Subject{}, fmt.Errorf("policy %s has no %s that seeds draw: choose %s", name, what,
		strings.Join(names, " or "))
}

// Title is the name of the policy, and of the world if it is not the plain one.
func (f *Subject) Title() string {
	if f.World == Plain {
		return f.Name
	}
	return f.Name + ", " + string(f.World)
}

// Drawn returns the names of the parameters that a seed does not leave at zero.
func (f *Subject) Drawn(seed uint64) []string { return f.drawn(seed) }

// Explore runs the scenario of a seed with all checkers, and then the other watchers. A panic of a machine counts as a
// broken rule, too.
func (f *Subject) Explore(seed uint64, watchers ...sim.Watcher) wandering.Outcome {
	return caught(func() wandering.Outcome { return f.explore(seed, watchers...) })
}

// caught explores, and takes a panic for a broken rule.
func caught(explore func() wandering.Outcome) (o wandering.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = wandering.Outcome{Err: fmt.Errorf("panic: %v\n\n%s", p, debug.Stack())}
		}
	}()
	return explore()
}

// Guidable reports whether the machines mark their rare branches, so that a hunt can be guided by these.
func (f *Subject) Guidable() bool { return f.guided != nil }

func wanders() Subject {
	f := drawn(wandering.Draw, (*wandering.Scenario).String, (*wandering.Scenario).Explore)
	f.Name, f.Words, f.covers = "wander", wandering.Words(), true
	f = written(f, wandering.Kind, wandering.Draw, (*wandering.Scenario).Explore)
	return marked(f, wander.Marks(), wandering.Draw, (*wandering.Scenario).Explore)
}

// in puts a subject into a world that a flag chooses.
func in(w World, f Subject, flag string) Subject {
	f.World, f.flags = w, f.flags+flag
	return f
}

func wanderCore() Subject {
	f := drawn(wandering.DrawCore, (*wandering.Scenario).String, (*wandering.Scenario).Explore)
	f.Name, f.Words = "wander", wandering.Words()
	f = written(f, wandering.Kind, wandering.DrawCore, (*wandering.Scenario).Explore)
	return marked(f, wander.Marks(), wandering.DrawCore, (*wandering.Scenario).Explore)
}

func wanderByzantine() Subject {
	f := drawn(wandering.DrawByzantine, (*wandering.ByzantineScenario).String, (*wandering.ByzantineScenario).Explore)
	f.Name, f.Words = "wander", wandering.Words()
	return written(f, wandering.ByzantineKind, wandering.DrawByzantine, (*wandering.ByzantineScenario).Explore)
}

func called() Subject { return calls(calling.Draw) }

func callCore() Subject { return calls(calling.DrawCore) }

func calls(draw func(seed uint64) calling.Scenario) Subject {
	f := watched("call", draw, (*calling.Scenario).Explore)
	f.Words = calling.Words()
	f = written(f, calling.Kind, draw, counted((*calling.Scenario).Explore))
	return marked(f, call.Marks(), draw, counted((*calling.Scenario).Explore))
}

func callByzantine() Subject {
	f := watched("call", calling.DrawByzantine, func(s *calling.ByzantineScenario, watchers ...sim.Watcher) error {
		_, err := s.Explore(watchers...)
		return err
	})
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
	f := drawn(draw, parameters, counted(explore))
	f.Name, f.flags = policy, " --policy "+policy
	return f
}

// counted also returns how many steps a run takes.
func counted[S any](explore func(s *S, watchers ...sim.Watcher) error) func(*S, ...sim.Watcher) wandering.Outcome {
	return func(s *S, watchers ...sim.Watcher) (reached wandering.Outcome) {
		reached.Err = explore(s, append(watchers, sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
			reached.Steps, reached.At = c.Steps(), o.At
			return nil
		}))...)
		return reached
	}
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
		drawn: func(seed uint64) (names []string) {
			trace.EachParameter(draw(seed), func(name string, value reflect.Value) {
				if !value.IsZero() {
					names = append(names, name)
				}
			})
			return names
		},
		explore: func(seed uint64, watchers ...sim.Watcher) wandering.Outcome {
			s := draw(seed)
			return explore(&s, watchers...)
		},
	}
}

// written returns the subject with scenarios that can be written to files.
func written[S any, P interface {
	reduce.Scenario[S]
	Smaller() string
}](f Subject, kind string, draw func(seed uint64) S, explore func(*S, ...sim.Watcher) wandering.Outcome,
) Subject {
	f.kind = kind
	f.smaller = func(seed uint64) string {
		s := draw(seed)
		return P(&s).Smaller()
	}
	f.read = func(content map[string]any) (Subject, error) {
		var s S
		err := reduce.Read(content, P(&s))
		one := f
		one.explore = func(_ uint64, watchers ...sim.Watcher) wandering.Outcome { return explore(&s, watchers...) }
		return one, err
	}
	return f
}

// marked returns the subject with machines that mark their rare branches.
func marked[S any, P reduce.Scenario[S]](f Subject, names marks.Names, draw func(seed uint64) S,
	explore func(*S, ...sim.Watcher) wandering.Outcome,
) Subject {
	f.marks = names
	f.guided = func(f *Subject, from uint64) guiding {
		return &guide[S, P]{subject: f, draw: draw, explore: explore, from: from}
	}
	return f
}

// Read returns the subject whose seeds all have the scenario in a file that [reduce.Text] has written.
func Read(content map[string]any) (Subject, error) {
	kind := reduce.Kind(content)
	var kinds []string
	for _, f := range All() {
		if f.read == nil {
			continue
		}
		if f.kind == kind {
			return f.read(content)
		}
		if !slices.Contains(kinds, f.kind) {
			kinds = append(kinds, f.kind)
		}
	}
	return Subject{}, fmt.Errorf("%s = %q: there are no such scenarios: choose one of %q", reduce.KindKey, kind, kinds)
}

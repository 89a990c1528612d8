package hunt

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	ringing "github.com/wanderd/wanderd/sim/fleet/ring"
	treeing "github.com/wanderd/wanderd/sim/fleet/tree"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/tell"
)

// Family is a family of protocols, in which a hunt looks for bugs.
type Family struct {
	// Name is that of its policy, Words are those of its stories.
	Name  string
	Words tell.Words
	// flags are those of the commands that choose it.
	flags string
	// parameters are what a seed draws, one line for each.
	parameters func(seed uint64) string
	explore    func(seed uint64, watchers ...sim.Watcher) Outcome
	// covers says that it has a list of what has to occur: see [wandering.Coverage].
	covers bool
}

// Outcome is the result of one seed.
type Outcome struct {
	Steps uint64
	// At is the virtual time that was reached; zero if the machines panicked.
	At policy.Time
	// Err is the first rule that was broken, or nil.
	Err error
}

// Families returns all of them. The first is the default.
func Families() []Family { return []Family{wander(), ring(), tree()} }

// FamilyOf returns the family of a policy.
func FamilyOf(name string) (Family, error) {
	all := Families()
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name
	}
	if i := slices.Index(names, name); i >= 0 {
		return all[i], nil
	}
	return Family{}, fmt.Errorf("policy %s has no scenarios that seeds draw: choose %s", name, strings.Join(names, " or "))
}

// Explore runs the scenario of a seed with all checkers, and the watchers after them. A panic of a machine breaks a rule, too.
func (f *Family) Explore(seed uint64, watchers ...sim.Watcher) (o Outcome) {
	defer func() {
		if p := recover(); p != nil {
			o = Outcome{Err: fmt.Errorf("panic: %v\n\n%s", p, debug.Stack())}
		}
	}()
	return f.explore(seed, watchers...)
}

func wander() Family {
	return Family{
		Name: "wander", Words: wandering.Words(), covers: true,
		parameters: func(seed uint64) string {
			s := wandering.Draw(seed)
			return s.String()
		},
		explore: func(seed uint64, watchers ...sim.Watcher) Outcome {
			s := wandering.Draw(seed)
			o := s.Explore(watchers...)
			return Outcome{o.Steps, o.At, o.Err}
		},
	}
}

// Liar is the family of fleets with a wandering token in which one member lies. Nothing else goes wrong there, and a hunt of another family
// has no liar.
func Liar() Family {
	return Family{
		Name: "wander", Words: wandering.Words(), flags: " --liar",
		parameters: func(seed uint64) string {
			s := wandering.DrawLiar(seed)
			return s.String()
		},
		explore: func(seed uint64, watchers ...sim.Watcher) Outcome {
			s := wandering.DrawLiar(seed)
			o := s.Explore(watchers...)
			return Outcome{o.Steps, o.At, o.Err}
		},
	}
}

func ring() Family {
	return Family{
		Name: "ring", flags: " --policy ring", parameters: func(seed uint64) string { return tell.Parameters(ringing.Draw(seed)) },
		explore: func(seed uint64, watchers ...sim.Watcher) Outcome {
			s := ringing.Draw(seed)
			clock := &clock{}
			_, err := s.Explore(append(watchers, clock)...)
			return Outcome{clock.steps, clock.at, err}
		},
	}
}

func tree() Family {
	return Family{
		Name: "tree", flags: " --policy tree", parameters: func(seed uint64) string { return tell.Parameters(treeing.Draw(seed)) },
		explore: func(seed uint64, watchers ...sim.Watcher) Outcome {
			clock := &clock{}
			_, err := treeing.Explore(treeing.Draw(seed), append(watchers, clock)...)
			return Outcome{clock.steps, clock.at, err}
		},
	}
}

// clock is how far a run has come.
type clock struct {
	steps uint64
	at    policy.Time
}

// Watch implements [sim.Watcher].
func (k *clock) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	k.steps, k.at = c.Steps(), o.At
	return nil
}

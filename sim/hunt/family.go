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
	f := wanderers(wandering.Draw)
	f.covers = true
	return f
}

// Liar is the family of fleets with a wandering token in which one member lies. Nothing else goes wrong there, and a hunt of another family
// has no liar.
func Liar() Family {
	f := wanderers(wandering.DrawLiar)
	f.flags = " --liar"
	return f
}

// wanderers are fleets with a wandering token, of scenarios that a seed draws.
func wanderers[S any, P interface {
	*S
	String() string
	Explore(watchers ...sim.Watcher) wandering.Outcome
}](draw func(seed uint64) S) Family {
	return Family{
		Name: "wander", Words: wandering.Words(),
		parameters: func(seed uint64) string {
			s := draw(seed)
			return P(&s).String()
		},
		explore: func(seed uint64, watchers ...sim.Watcher) Outcome {
			s := draw(seed)
			o := P(&s).Explore(watchers...)
			return Outcome{o.Steps, o.At, o.Err}
		},
	}
}

func ring() Family {
	return rostered("ring", ringing.Draw, func(s ringing.Scenario, watchers ...sim.Watcher) error { return s.Explore(watchers...) })
}

func tree() Family {
	return rostered("tree", treeing.Draw, func(s treeing.Scenario, watchers ...sim.Watcher) error {
		_, err := treeing.Explore(s, watchers...)
		return err
	})
}

// rostered are fleets of a policy whose members have a roster.
func rostered[S any](policy string, draw func(seed uint64) S, explore func(s S, watchers ...sim.Watcher) error) Family {
	return Family{
		Name: policy, flags: " --policy " + policy, parameters: func(seed uint64) string { return tell.Parameters(draw(seed)) },
		explore: func(seed uint64, watchers ...sim.Watcher) (reached Outcome) {
			reached.Err = explore(draw(seed), append(watchers, sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
				reached.Steps, reached.At = c.Steps(), o.At
				return nil
			}))...)
			return reached
		},
	}
}

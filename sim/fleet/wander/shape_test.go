package wander

import (
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/mutant"
	"github.com/wanderd/wanderd/sim"
)

// hasShape reports whether hosts soak, few may be down, or there are stages.
func hasShape(s *Scenario) bool { return s.Shape != sim.Shape{} || s.Hook.Soak > 0 }

// Of all seeds, those that draw a shape: hosts that soak, a limit of members that are down, stages. The first ones have
// failed: while too many were down, a caller's turn was forgotten, again and again; a member that was due again before
// it had looked around did not use the token that rested with it; a member passed one of an earlier stage whose host
// ran a caller's command.
func TestNoSeedBreaksAShape(t *testing.T) {
	usual := deep.Of[uint64](150, 300, 1500)
	exploreShapes(t, mutant.Seeds(usual, 23585, 22763, 110257, 169583, 2007728, 4141909), Draw)
}

// The rules of a shape hold together, too.
func TestNoSeedBreaksSeveralShapes(t *testing.T) {
	exploreShapes(t, mutant.Seeds(deep.Of[uint64](30, 45, 150)), drawSeveralShapes)
}

// drawSeveralShapes is Draw with the pieces of a shape that the seed has not drawn, most of them.
func drawSeveralShapes(seed uint64) Scenario {
	s := Draw(seed)
	for i, p := range shapes() {
		if d := p.dice(^seed); !traits[i].has(&s) && d.Sometimes(2./3) {
			p.draw(d, &s)
		}
	}
	return s
}

// exploreShapes explores the scenarios that have a shape, and says how many have each of its rules.
func exploreShapes(t *testing.T, seeds []uint64, draw func(seed uint64) Scenario) {
	t.Helper()
	worlds, drawn := 0, map[string]int{"soak": 0, "max_down": 0, "first": 0}
	for _, seed := range seeds {
		s := draw(seed)
		if !hasShape(&s) || s.Check() != nil {
			continue
		}
		worlds++
		for _, r := range traits[:3] {
			if r.has(&s) {
				drawn[r.name]++
			}
		}
		if o := s.Explore(); o.Err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, o.Err, mutant.Reduced(t, s.Smaller))
		}
	}
	t.Logf("%d worlds, of which have %v", worlds, drawn)
	for name, n := range drawn {
		if n == 0 && len(seeds) >= enough {
			t.Errorf("none of %d seeds has %s", len(seeds), name)
		}
	}
}

// enough is how many seeds have each rule of a shape.
const enough = 30

// trait is a rule of a gate that a seed may draw.
type trait struct {
	name string
	has  func(*Scenario) bool
}

// The first three are a shape, in the order of shapes.
var traits = []trait{
	{"soak", func(s *Scenario) bool { return s.Hook.Soak > 0 }},
	{"max_down", func(s *Scenario) bool { return s.Shape.MaxDown > 0 }},
	{"first", func(s *Scenario) bool { return s.Shape.Canaries > 0 }},
	{"keep", func(s *Scenario) bool { return s.Keep > 0 }},
	{"slots", func(s *Scenario) bool { return s.Slots > 1 }},
	{"a share as slots", func(s *Scenario) bool { return s.SlotsShare > 0 }},
	{"window", func(s *Scenario) bool { return s.Windows != nil }},
	{"ready", func(s *Scenario) bool { return s.Ready != sim.Ready{} }},
	{"stop_after", func(s *Scenario) bool { return s.Operators.StopAfter > 0 }},
	{"retry_after", func(s *Scenario) bool { return s.RetryAfter > 0 }},
	{"callers on demand", func(s *Scenario) bool { return s.onDemand() }},
	{"callers beside a hook", func(s *Scenario) bool { return s.Demand.Beside }},
	{"ask_before_run", func(s *Scenario) bool { return s.AskBeforeRun }},
}

// "Every combination of two rules is drawn": all of these rules of a gate, but those that exclude each other. A gate
// that runs once for all has worlds of its own.
func TestEveryTwoRulesAreDrawnTogether(t *testing.T) {
	exclude := map[[2]string]bool{
		{"keep", "slots"}: true, {"keep", "a share as slots"}: true, {"slots", "a share as slots"}: true,
		{"first", "window"}: true, {"first", "callers on demand"}: true, {"ready", "callers on demand"}: true,
		{"retry_after", "callers on demand"}: true, {"callers on demand", "callers beside a hook"}: true,
		{"once", "slots"}: true, {"once", "a share as slots"}: true, {"once", "callers on demand"}: true,
	}
	drawn := map[[2]string]int{}
	const seeds = 20_000
	for seed := range uint64(seeds) {
		s := Draw(seed)
		for i, a := range traits {
			for _, b := range traits[i+1:] {
				if a.has(&s) && b.has(&s) {
					drawn[[2]string{a.name, b.name}]++
				}
			}
		}
		o := drawOnce(seed)
		for _, a := range traits {
			if a.has(&o) {
				drawn[[2]string{"once", a.name}]++
			}
		}
	}
	wants := func(a, b string) {
		pair := [2]string{a, b}
		if n := drawn[pair]; n == 0 != exclude[pair] {
			t.Errorf("%v: %d of %d seeds", pair, n, seeds)
		}
	}
	for i, a := range traits {
		wants("once", a.name)
		for _, b := range traits[i+1:] {
			wants(a.name, b.name)
		}
	}
}

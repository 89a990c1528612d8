package call

import (
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/mutant"
	"github.com/wanderd/wanderd/sim"
)

// Of all seeds, those that draw a shape: hosts that soak, a limit of members that are down, stages. The first ones have
// failed: a guardian that waited in line left it with each run of another host; a member passed one of an earlier stage
// whose host ran a caller's command.
func TestNoSeedBreaksAShape(t *testing.T) {
	exploreShapes(t, mutant.Seeds(deep.Of[uint64](150, 300, 1500), 4069, 8130, 2990), drawForShapes)
}

// drawForShapes is DrawDue, or for every third seed DrawCalled.
func drawForShapes(seed uint64) Scenario {
	if seed%3 == 0 {
		return DrawCalled(seed)
	}
	return DrawDue(seed)
}

// The rules of a shape hold together, too.
func TestNoSeedBreaksSeveralShapes(t *testing.T) {
	exploreShapes(t, mutant.Seeds(deep.Of[uint64](30, 60, 150)), drawSeveralShapes)
}

// drawSeveralShapes is drawForShapes with the rules of a shape that the seed has not drawn, most of them.
func drawSeveralShapes(seed uint64) Scenario {
	s := drawForShapes(seed)
	has, _ := shapeOf(&s)
	for i, p := range shapes() {
		if d := (drawing{sim.NewDice(^seed, p.label)}); !has[i] && d.Sometimes(2./3) {
			p.draw(d, &s)
		}
	}
	return s
}

// shapeOf returns which rules of a shape a scenario has, in the order of shapes, and their names.
func shapeOf(s *Scenario) (has [3]bool, names [3]string) {
	return [3]bool{s.Hook.Soak > 0, s.Shape.MaxDown > 0, s.Shape.Canaries > 0}, [3]string{"soak", "max_down", "first"}
}

// exploreShapes explores the scenarios that have a shape, and says how many have each of its rules.
func exploreShapes(t *testing.T, seeds []uint64, draw func(seed uint64) Scenario) {
	t.Helper()
	worlds, drawn := 0, map[string]int{"soak": 0, "max_down": 0, "first": 0}
	for _, seed := range seeds {
		s := draw(seed)
		has, names := shapeOf(&s)
		if has == [3]bool{} || s.Members > 60 || s.Check() != nil {
			continue
		}
		worlds++
		for i, is := range has {
			if is {
				drawn[names[i]]++
			}
		}
		if err := s.Explore(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, mutant.Reduced(t, s.Smaller))
		}
	}
	t.Logf("%d worlds, of which have %v", worlds, drawn)
	const enough = 30 // seeds, so that some have each rule
	for name, n := range drawn {
		if n == 0 && len(seeds) >= enough {
			t.Errorf("none of %d seeds has %s", len(seeds), name)
		}
	}
}

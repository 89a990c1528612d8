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
	worlds, drawn := 0, map[string]int{}
	for _, seed := range mutant.Seeds(deep.Or[uint64](150, 1500), 4069, 8130, 2990) {
		draw := DrawDue
		if seed%3 == 0 {
			draw = DrawCalled
		}
		s := draw(seed)
		if s.Shape == (sim.Shape{}) && s.Hook.Soak == 0 || s.Members > 60 {
			continue
		}
		worlds++
		for rule, is := range map[string]bool{
			"soak": s.Hook.Soak > 0, "max_down": s.Shape.MaxDown > 0, "first": s.Shape.Canaries > 0,
		} {
			if is {
				drawn[rule]++
			}
		}
		if err := s.Explore(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, mutant.Reduced(t, s.Smaller))
		}
	}
	t.Logf("%d worlds, of which have %v", worlds, drawn)
}

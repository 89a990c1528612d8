package together

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/lab/mutant"
)

// traits are what a seed may draw.
var traits = []struct {
	name string
	is   func(s *Scenario) bool
}{
	{"zones", func(s *Scenario) bool { return s.Zones > 0 }},
	{"runs that need other gates", func(s *Scenario) bool { return s.With > 0 }},
	{"hosts that need other gates than the rest", func(s *Scenario) bool { return s.Before > 0 }},
	{"tokens that come when called", func(s *Scenario) bool { return s.Called }},
	{"callers with several gates", func(s *Scenario) bool { return s.CallEvery > 0 && s.Plain > 1 }},
	{"hosts that crash or leave", func(s *Scenario) bool { return s.FaultEvery > 0 }},
	{"lost messages", func(s *Scenario) bool { return s.Network.Loss > 0 }},
	{"lost tokens", func(s *Scenario) bool { return s.Faults.LoseTokenEvery > 0 }},
	{"parted networks", func(s *Scenario) bool { return s.PartEvery > 0 }},
	{"deaf or mute hosts", func(s *Scenario) bool { return s.DeafEvery > 0 }},
	{"a soak", func(s *Scenario) bool { return s.Soak > 0 }},
	{"a limit of hosts that are down", func(s *Scenario) bool { return s.Shape.MaxDown > 0 }},
	{"stages", func(s *Scenario) bool { return s.Shape.Canaries > 0 }},
	{"one upgrade for all", func(s *Scenario) bool { return s.Once }},
	{"operators", func(s *Scenario) bool { return s.Operators.Every > 0 }},
	{"pauses", func(s *Scenario) bool { return s.PauseEvery > 0 }},
	{"strict gates", func(s *Scenario) bool { return s.Strict.any() }},
	{"soft gates whose runs need strict ones", func(s *Scenario) bool {
		return !s.Strict.Upgrade && s.Strict.Plain > 0 && s.With > 0
	}},
}

// No seed lets a run start with half its gates, more hosts of a zone run than may, two run that need one strict gate, a
// run go on that has lost a gate, or a host wait for ever. The first one has failed: callers whose waits were all
// shorter than a patience did not make a guardian revive the token of a gate that they needed.
func TestNoSeedBreaksARule(t *testing.T) {
	var seen rules
	orderly, explored, drawn := 0, 0, make([]int, len(traits))
	usual := deep.Of[uint64](200, 300, 1000)
	seeds := mutant.Seeds(usual, 8, 6, 149, 801371, 1012985, 1013160, 1111255, 1130415, 1408387)
	for _, seed := range seeds {
		s := Draw(seed)
		r, err := s.explore()
		explored++
		for i, trait := range traits {
			if trait.is(&s) {
				drawn[i]++
			}
		}
		if err != nil {
			t.Errorf("seed %d: %v\n%+v", seed, err, s)
			break
		}
		seen.served, seen.put = seen.served+r.served, seen.put+r.put
		seen.cut, seen.late = seen.cut+r.cut, seen.late+r.late
		if s.calm() && s.WithWait == patient {
			orderly++
		}
	}
	var parts []string
	for i, trait := range traits {
		parts = append(parts, fmt.Sprintf("%s %d %%", trait.name, 100*drawn[i]/explored))
	}
	t.Logf("seeds from %d on: %d, drawn: %s", seeds[0], explored, strings.Join(parts, ", "))
	t.Logf("%d commands of callers ran; %d runs were put off, %d were cut because a gate was lost, %d had lost one "+
		"when they had all; in %d worlds nobody may be put off", seen.served, seen.put, seen.cut, seen.late, orderly)
	if !t.Failed() && explored > 100 && min(seen.served, seen.put, seen.cut, seen.late, orderly) == 0 {
		t.Error("the seeds do not show all of that")
	}
}

// BenchmarkWorlds explores one seed after another.
func BenchmarkWorlds(b *testing.B) {
	for seed := uint64(1); b.Loop(); seed++ {
		s := Draw(seed)
		if _, err := s.explore(); err != nil {
			b.Fatal(seed, err)
		}
	}
}

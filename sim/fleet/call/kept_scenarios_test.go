package call

import (
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
	"github.com/wanderd/wanderd/sim/reduce"
)

// Scenarios that once broke a rule, or that break one with the mutant whose name they have.
func TestKeptScenarios(t *testing.T) {
	mutant.EachScenario(t, func(content map[string]any) error {
		var s Scenario
		if err := reduce.Read(content, &s); err != nil {
			return err
		}
		return s.Explore()
	})
}

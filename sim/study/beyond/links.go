package beyond

import (
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/study"
)

// links is a world in which some members never hear some others.
func links() survey {
	w := world{name: "5 % of the links broken", change: func(s *sim.Scenario) { s.Network.Broken = 0.05 }}
	return survey{
		name: "beyond-links", title: "One in twenty ordered pairs of members cannot reach each other, for good", source: "not in the paper",
		shows: "Whether a member starves whose predecessor in the lap never reaches it. The membership does not notice: it finds ways round.",
		cells: cells(w, study.Nominal, study.Overload),
		notes: func([]line) []string {
			return []string{
				"Nobody starves: who was missed is tried by the next holder. What is lost is the time of the handoffs that fail.",
				"A guardian that never hears its holder suspects it again and again, and is told each time by the other one that all is well. " +
					"Now and then this comes in the way of a recovery: where the guardian that is left cannot be reached, or has just asked.",
			}
		},
	}
}

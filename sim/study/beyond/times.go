package beyond

import (
	"time"

	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/study"
)

// times is a world in which operations are not all alike, and longer than the gate was told.
func times() survey {
	const shortest, longest = 1 * time.Second, 16 * time.Second
	w := world{name: "operations of 1 to 16 s", change: func(s *sim.Scenario) {
		s.Hook.Takes = (shortest + longest) / 2
		s.Hook.Spread = float64(longest-shortest) / float64(longest+shortest)
	}}
	return survey{
		name: "beyond-times", title: "Operations take 1 to 16 s, and not the 4 s that op says", source: "not in the paper",
		shows: "All times in that range are as likely, 8.5 s on average. So the load is twice what the constants say: 2.1 at N = 150 and " +
			"4.25 at N = 300. Δmax stays at 1800 s; max_interval follows the operation as it is measured.",
		cells: cells(w, study.Nominal, study.Overload),
		notes: func([]line) []string {
			return []string{
				"The best possible interval is a lap of average operations; how long a lap takes varies with them.",
			}
		},
	}
}

package beyond

import (
	"slices"
	"time"
)

// large are fleets far beyond what the gate was made for: a token serves 150 members in min_interval.
func large() survey {
	thousand, myriad := cells(world{}, 1000), cells(world{}, 10_000)
	for i := range thousand {
		thousand[i].seeds, thousand[i].faults = usualSeeds/2, 2*usualFaults
	}
	for i := range myriad {
		myriad[i].duration, myriad[i].seeds, myriad[i].faults = 200_000*time.Second, 2, 50
	}
	all := slices.Concat(thousand, myriad)
	for i := range all {
		if all[i].rules.isPaper() {
			all[i].faults = 0
		}
	}
	return survey{
		name: "beyond-large", title: "A thousand members, and ten thousand", source: "\"fully scalable\", section 8",
		shows: "The constants as ever, so that the load is 6.7 and 67, and the best possible interval 4000 s and 40000 s. Ten runs of each " +
			"fleet of 1000, and two of each of 10000, of 200000 s; a hundred faults of each kind.",
		cells: all, targets: recoveryTargets,
		notes: func([]line) []string {
			return []string{
				"A recovery takes as long as in a small fleet: only the holder and its guardians have to do with it.",
				"Under the paper's rules nearly everybody waits for longer than Δmax and makes tokens: \"when the size of the membership N is " +
					"significantly near the rate Δmax/Δop, the system shows instability\" (section 5.1). There never is exactly one, so none is " +
					"lost here on purpose.",
			}
		},
	}
}

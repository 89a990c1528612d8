package beyond

import (
	"time"

	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/study"
)

// A member that crashes now and then is up and down for so long on average.
const (
	meanUp   = 10_000 * time.Second
	meanDown = 600 * time.Second
)

// crashes is a world in which members crash, and come back.
func crashes() survey {
	w := world{
		name: "members crash", up: float64(meanUp) / float64(meanUp+meanDown),
		change: func(s *sim.Scenario) { s.Faults.CrashEvery, s.Faults.DownFor = meanUp, meanDown },
	}
	return survey{
		name: "beyond-crashes", title: "Members crash after 10000 s on average, and are down for 600 s", source: "not in the paper",
		shows: "At N = 300 somebody crashes every half a minute, and the holder every three hours. The others hear of a crash ten seconds later.",
		cells: cells(w, study.Nominal, study.Overload), targets: overlapTargets,
		notes: func([]line) []string {
			return []string{
				"The best possible takes into account that six members in a hundred are down. An interval also lasts for as long as its member " +
					"was down: the longest ones are no shortcoming of the gate.",
				"A holder that crashes within ten minutes after a fault that was done on purpose begins the wait for one token for good anew: " +
					"most of what is longer there than \"held again\" is that.",
				"Where the other guardian is down, too, no copy is left, and the token is made anew after max_interval.",
			}
		},
	}
}

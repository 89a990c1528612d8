package beyond

import (
	"fmt"
	"slices"

	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/study"
)

// accepted is how much overlap there may be where messages are lost or members crash, as a share of the time.
const accepted = 0.0001

// overlapTargets hold every line of wanderd's rules to what is accepted.
func overlapTargets(all []line) []target {
	return each(all, ours, func(l *line) target { return l.overlapTarget(accepted) })
}

// loss is a world in which datagrams get lost.
func loss() survey {
	return survey{
		name: "beyond-loss", title: "One datagram in a hundred is lost, or one in twenty", source: "not in the paper",
		shows:   "Whether beats that are lost make guardians revive a token that has a holder, and how much a recovery suffers.",
		cells:   slices.Concat(cells(lossy(0.01), study.Nominal, study.Overload), cells(lossy(0.05), study.Nominal, study.Overload)),
		targets: overlapTargets,
		notes: func([]line) []string {
			return []string{
				"A guardian has to miss four beats in a row before it asks, and then asks three times. So no token is revived that has a holder.",
				"A recovery takes longer where a question or an answer is lost that would have ended it.",
			}
		},
	}
}

func lossy(share float64) world {
	return world{
		name:   fmt.Sprintf("%.0f %% of the datagrams lost", 100*share),
		change: func(s *sim.Scenario) { s.Network.Loss = share },
	}
}

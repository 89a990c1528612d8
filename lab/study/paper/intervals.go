package paper

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// paperBin is the width of the bins of table 4.
const paperBin = 500 * time.Second

// undisturbed counts the intervals between two operations on one member as table 4 seems to: it leaves out those during
// which the member made a token itself. For N = 150, table 3 accounts for 1107 more operations than table 4 has
// intervals, which is how many tokens are made in such a run. In figure 2, "lasttoken = token" after making one
// overwrites the time of the last operation. It implements [sim.Watcher].
type undisturbed struct {
	members []occupant
	// bins counts the intervals by [paperBin] from zero. disturbed counts those that are left out.
	bins      []float64
	disturbed float64
}

type occupant struct {
	ran, made bool
	since     policy.Time
}

// Watch implements [sim.Watcher].
func (u *undisturbed) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	m := &u.members[o.Member]
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Tell && e.Note == wander.NoteRegenerated:
			m.made = true
		case e.Kind == policy.Run:
			if m.ran && m.made {
				u.disturbed++
			} else if m.ran {
				u.bins = addTo(u.bins, int(o.At.Sub(m.since)/paperBin), 1)
			}
			*m = occupant{ran: true, since: o.At}
		}
	}
	return nil
}

// addTo adds to the i-th value, and lengthens the slice if it is too short.
func addTo(values []float64, i int, more float64) []float64 {
	for len(values) <= i {
		values = append(values, 0)
	}
	values[i] += more
	return values
}

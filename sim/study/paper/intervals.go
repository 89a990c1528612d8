package paper

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// paperBin is the width of the bins of table 4.
const paperBin = 500 * time.Second

// undisturbed counts the intervals between two operations on one member as table 4 seems to: those during which the member
// made a token itself are left out. Table 3 of N = 150 accounts for 1107 more operations than table 4 has intervals, which is
// how many tokens are made in such a run. In figure 2, "lasttoken = token" after making one overwrites the time of the last
// operation. It is a [sim.Watcher].
type undisturbed struct {
	members []occupant
	// bins counts the intervals by [paperBin] from zero, disturbed those that are left out.
	bins      []float64
	disturbed float64
}

type occupant struct {
	ran, made bool
	since     policy.Time
}

func newUndisturbed(members int) *undisturbed {
	return &undisturbed{members: make([]occupant, members)}
}

// Watch counts.
func (u *undisturbed) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if o.Kind != sim.Stepped {
		return nil
	}
	for i := range o.Effects {
		switch e := &o.Effects[i]; {
		case e.Kind == policy.Tell && e.Note == policy.NoteRegenerated:
			u.members[o.Member].made = true
		case e.Kind == policy.Run:
			u.started(o.Member, o.At)
		}
	}
	return nil
}

func (u *undisturbed) started(member int, now policy.Time) {
	m := &u.members[member]
	switch {
	case !m.ran:
	case m.made:
		u.disturbed++
	default:
		u.add(now.Sub(m.since))
	}
	*m = occupant{ran: true, since: now}
}

func (u *undisturbed) add(interval time.Duration) {
	bin := int(interval / paperBin)
	for len(u.bins) <= bin {
		u.bins = append(u.bins, 0)
	}
	u.bins[bin]++
}

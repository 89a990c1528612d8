// Package downcount limits how many members of a gate may be down when a run starts: too many, and a member counts as
// not ready, so that the token passes by.
//
// Its decisions, in docs/decisions: 111.
package downcount

import (
	"fmt"
	"strconv"
	"strings"
)

// Limit is how many members may be down, the one that runs included: a number, or a share of the members that is never
// below one. The zero value is no limit.
type Limit struct{ Count, Percent int }

// Most is the highest number that a limit may have.
const Most = 10_000

// Parse reads a number, as in 1, or a share, as in 10%.
func Parse(text string) (Limit, error) {
	digits, share := strings.CutSuffix(text, "%")
	n, err := strconv.ParseUint(digits, 10, 16)
	switch {
	case err != nil || share && (n < 1 || n > 100) || n > Most:
		return Limit{}, fmt.Errorf("%q is neither a number up to %d nor a share from 1%% to 100%%", text, Most)
	case share:
		return Limit{Percent: int(n)}, nil
	}
	return Limit{Count: int(n)}, nil
}

// String is the form that Parse reads.
func (l Limit) String() string {
	if l.Percent > 0 {
		return strconv.Itoa(l.Percent) + "%"
	}
	return strconv.Itoa(l.Count)
}

// Of returns the limit among so many members; zero is no limit.
func (l Limit) Of(members int) int {
	if l.Percent > 0 {
		return max(members*l.Percent/100, 1)
	}
	return l.Count
}

// Down is who is down, as one member knows. A run that it is about to start does not count.
type Down struct {
	// Members is how many members there are: those in view and those that have failed, or those of a roster.
	Members int
	// Failed is how many others have failed, or are not here.
	Failed int
	// Kept is true if the grant of another one is kept that is not among them; Here, if that one is here.
	Kept, Here bool
	// Slots is how many tokens the gate has. Under each of the others another member may run.
	Slots int
}

// Count is how many others are down, or may be. Whose grant is kept and who is not here has stopped in order, and may
// be rebooting. Who is here runs, and has the token: if that one counted, those that wait for the token would give up
// their places with each run.
func (d *Down) Count() int {
	n := d.Failed + max(d.Slots-1, 0)
	if d.Kept && !d.Here {
		n++
	}
	return n
}

// Bars reports whether no run may start: "a run starts only if fewer members than that are down for any reason".
func (l Limit) Bars(d *Down) bool {
	most := l.Of(d.Members)
	return most > 0 && d.Count() >= most
}

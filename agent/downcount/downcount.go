// Package downcount limits how many members of a gate may be down when a run starts.
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

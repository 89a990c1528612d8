package tree

import (
	"testing"
	"time"
)

// How far away the nearest site is, the first answer to a search tells; later ones come from sites further away.
func TestTheFirstAnswerToASearchTellsHowFarTheNearestSiteIs(t *testing.T) {
	m, now := rejoining(today)
	m.found(now.Time)
	if m.firstAnswer != 0 {
		t.Errorf("%v without a search", m.firstAnswer)
	}
	m.searched(now.Time)
	m.found(now.Time.Add(time.Second))
	m.found(now.Time.Add(time.Minute))
	if m.firstAnswer != time.Second {
		t.Errorf("%v, and the first answer took a second", m.firstAnswer)
	}
}

package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
)

// Answers to questions are waited for half a skip, or an eighth of a second: skip is too short if they take longer.
func TestTheLeastSkipFitsTheNetwork(t *testing.T) {
	for _, tc := range []struct {
		skip, roundTrip time.Duration
		short           bool
		least           time.Duration
	}{
		{time.Second, 500 * time.Millisecond, false, time.Second},
		{time.Second, 501 * time.Millisecond, true, 1050 * time.Millisecond},
		{250 * time.Millisecond, 260 * time.Millisecond, true, 550 * time.Millisecond},
		{time.Millisecond, 125 * time.Millisecond, false, 250 * time.Millisecond},
	} {
		if got := wander.TooShort(tc.skip, tc.roundTrip); got != tc.short {
			t.Errorf("skip %v, round trip %v: too short is %v", tc.skip, tc.roundTrip, got)
		}
		if got := wander.LeastSkip(tc.roundTrip); got != tc.least || wander.TooShort(got, tc.roundTrip) {
			t.Errorf("round trip %v: the least skip is %v, want %v", tc.roundTrip, got, tc.least)
		}
	}
}

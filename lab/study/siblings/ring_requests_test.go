package siblings

import (
	"math"
	"testing"

	"github.com/wanderd/wanderd/policy/ring"
)

func TestTheClosedFormsAndBoundsAreThePublishedOnes(t *testing.T) {
	for _, c := range []struct {
		of                         requestCase
		closed, messages, services float64
	}{
		{requestCase{ring.Martin, 4, 1000}, 3, 0, 0},
		{requestCase{ring.Q, 4, 1000}, 3, 4, 15},
		{requestCase{ring.D, 4, 1000}, 5.25, 8, 9},
		{requestCase{ring.Always, 4, 1}, 1.5819767, 0, 0},
	} {
		messages, service, _ := c.of.bounds()
		if math.Abs(c.of.closedForm()-c.closed) > 1e-6 || messages != c.messages || service != c.services {
			t.Errorf("%s: %v, %v, %v", c.of.name(), c.of.closedForm(), messages, service)
		}
	}
}

func TestARareRequestOnASmallRingCostsTheClosedForm(t *testing.T) {
	c := requestCase{ring.Q, 8, 1000}
	r, err := runRequests(t.Context(), &c, 1)
	if err != nil || math.Abs(r.messages-7) > 0.2 {
		t.Errorf("%v messages per request, %v", r.messages, err)
	}
}

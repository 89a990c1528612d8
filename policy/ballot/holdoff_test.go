package ballot_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

// A member that has let the others go first proposes again when each of them could have run, although one of them
// proposes on and on, and hears no answer: each of its proposals is a lease here that it withdraws.
func TestAMemberThatHoldsOffDoesNotWaitForOneThatHearsNobody(t *testing.T) {
	const within = time.Second
	c := newCircle(t, 3)
	began, others := c.now, 2*(within+lease)
	c.m[0].HoldOff(c.now, within)
	c.m[0].Propose(c.now, 0)
	for number := 1; ; number++ {
		c.wantAnswer(c.receive(c.ask(ballot.KindPromise, 2, 0, epoch(number, 2), wire.Exchange(number))),
			ballot.KindPromised)
		c.now = c.now.Add(within / 2)
		c.receive(c.ask(ballot.KindRelease, 2, 0, epoch(number, 2), 0))
		at, ok := c.m[0].NextWake()
		if !ok || at.Sub(began) > others+within {
			t.Fatalf("it waits for %v, and all others could have run in %v", at.Sub(began), others)
		}
		if c.now = c.now.Add(within / 4); at <= c.now {
			break
		}
	}
	if went := c.now.Sub(began); went < others-within {
		t.Errorf("it goes first after %v, and the others could run for %v", went, others)
	}
	c.wake(0)
	c.wantNotes(ballot.NoteProposed)
}

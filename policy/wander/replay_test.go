package wander_test

import (
	"testing"

	"github.com/wanderd/wanderd/policy/guardian"
)

// A member remembers one token that it does not hold. What it once knew of another one is forgotten, but not how high
// the numbers were: a holder that believed the heartbeat of an older token with a low number would guard that token,
// and believe its Yield next, which is played back as well.
func TestAHolderGuardsNoTokenOfAHeartbeatThatMayBeAReplay(t *testing.T) {
	old := guardedBy(born(1, 10), 3, 6)
	s := inGuardedFleet(t)
	s.receive(word(guardian.KindAsk, 4, guardedBy(born(1, 1000), 1, 2)))
	s.arrive(guardedBy(born(5, 1010), 5, 4), 5)
	s.sent = nil
	s.receive(word(guardian.KindHeartbeat, 2, old))
	s.wantTold(guardian.KindHeartbeat, 2)
	s.finish()
	s.ack()
	s.notes = nil
	s.receive(word(guardian.KindYield, 2, old))
	s.wantNotes(guardian.NoteStrayWord)
}

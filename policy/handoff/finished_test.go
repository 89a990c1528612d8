package handoff_test

import (
	"testing"

	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// A fleet with several tokens ends many handoffs in a short time: the receiver knows the last twelve, so that a late
// duplicate of their Tokens opens none of them again.
func TestTheTokensOfTheLastTwelveHandoffsAreKnown(t *testing.T) {
	p := newPair(t)
	var tokens []wire.Message
	for range 12 {
		p.ann.holds, p.bob.holds = true, false
		p.offer()
		tokens = append(tokens, p.deliver(handoff.KindToken))
		p.deliver(handoff.KindAck)
		p.deliver(handoff.KindCommit)
		p.air = nil
	}
	for i, token := range tokens {
		if got := p.receive(token); got != 0 {
			t.Errorf("handoff %d of twelve: its Token is answered again", i+1)
		}
	}
}

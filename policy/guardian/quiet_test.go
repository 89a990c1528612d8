package guardian_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// A quiet holder that nobody waits for sends nothing, and its death is not noticed. cyd, the second guardian, knows of
// a member that waits, and lets bob go first, who knows of none. So bob has to suspect the holder once cyd asks.
func TestAQuietGuardianThatIsAskedRevivesTheToken(t *testing.T) {
	c := newUnaware(t)
	for _, m := range c.all {
		m.g.BeQuiet()
	}
	c.hold(c.ann, theToken)
	c.took(c.ann, wire.MemberID{}, guardian.Outcome{},
		c.ann.g.Announce(c.now, &c.ann.token, c.ann.token.Trail(), 5, nil))
	c.advance(latency)
	c.ann.dead, c.sent = true, nil
	c.advance(time.Hour)
	c.wantSent()
	c.cyd.g.Await(c.now, true)
	c.advance(3 * patience)
	c.wantHolders(c.bob)
}

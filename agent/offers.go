package agent

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

const (
	// offerRows is the number of rows of handoffs. They hold the last 16,000 handoffs in 256 KiB: hours of them.
	offerRows = 1 << 12
	// offerSaves is for how long the Token of a handoff is accepted, in units of the longest save after which a run may
	// start (half a timeout): twice the sixteen timeouts for which the Token is repeated. offerLeast is the least time.
	offerSaves = 64
	offerLeast = 2 * time.Second
)

// offers remembers when which handoffs were offered to this member; the value is when the Token of the handoff first
// came. If a Token comes later than its sender repeats it, it is being played back, and it would take one of the few
// places for incoming handoffs. A machine remembers only the last few handoffs. Only the loop uses offers.
type offers struct{ recent[policy.Time] }

func newOffers() offers { return offers{newRecent[policy.Time](offerRows)} }

// isOld reports whether a Token of the handoff first came longer ago than after.
func (o *offers) isOld(exchange wire.Exchange, now policy.Time, after time.Duration) bool {
	since := o.find(uint64(exchange))
	return since != nil && now.Sub(*since) > after
}

// saw remembers that an authentic Token of the handoff came.
func (o *offers) saw(exchange wire.Exchange, now policy.Time) {
	if o.find(uint64(exchange)) == nil {
		o.add(uint64(exchange), now)
	}
}

// offeredFor returns for how long the Token of a handoff is accepted.
func offeredFor(saveWithin time.Duration) time.Duration {
	return max(offerSaves*saveWithin, offerLeast)
}

package agent

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

const (
	// offerRows are rows of handoffs: the last 16,000, which is 256 KiB, and hours of them.
	offerRows = 1 << 12
	// offerSaves is for how many of the longest saves after which a run may start (half a timeout) the Token of a
	// handoff is accepted: twice the sixteen timeouts for which it is repeated. offerLeast is the least time.
	offerSaves = 64
	offerLeast = 2 * time.Second
)

// offers remembers by time which handoffs were offered to this member. A Token that comes later than a sender repeats
// it is one that somebody plays back: it would take one of the few places for incoming handoffs. A machine remembers
// the last few handoffs only. Only the loop uses it. Kept is when the Token of a handoff came first.
type offers struct{ recent[policy.Time] }

func newOffers() offers { return offers{newRecent[policy.Time](offerRows)} }

// isOld reports whether a Token of the handoff came longer ago than that.
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

// offeredFor is how long the Token of a handoff is accepted.
func offeredFor(saveWithin time.Duration) time.Duration {
	return max(offerSaves*saveWithin, offerLeast)
}

package agent

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

const (
	// offerRows × offerWays handoffs are remembered, which is 256 KiB: the last 16,000, hours of them.
	offerRows = 1 << 12
	offerWays = 4
	// offerSaves is for how many of the longest saves after which a run may start (half a timeout) the Token of a handoff is accepted:
	// twice the sixteen timeouts for which it is repeated. offerLeast is the least time.
	offerSaves = 64
	offerLeast = 2 * time.Second
)

// offers remembers by time which handoffs were offered to this member. A Token that comes later than a sender repeats it is one that
// somebody plays back: it would take one of the few places for incoming handoffs. A machine remembers the last few handoffs only. Only
// the loop uses it.
type offers struct {
	rows [offerRows][offerWays]offer
	next [offerRows]uint8
}

// offer is a handoff and when its Token came first.
type offer struct {
	exchange wire.Exchange
	since    policy.Time
}

// isOld reports whether a Token of the handoff came longer ago than that.
func (o *offers) isOld(exchange wire.Exchange, now policy.Time, after time.Duration) bool {
	known := o.find(exchange)
	return known != nil && now.Sub(known.since) > after
}

// saw remembers that an authentic Token of the handoff came.
func (o *offers) saw(exchange wire.Exchange, now policy.Time) {
	if o.find(exchange) != nil {
		return
	}
	at := uint64(exchange) % offerRows
	o.rows[at][o.next[at]] = offer{exchange: exchange, since: now}
	o.next[at] = (o.next[at] + 1) % offerWays
}

func (o *offers) find(exchange wire.Exchange) *offer {
	row := &o.rows[uint64(exchange)%offerRows]
	for i := range row {
		if row[i].exchange == exchange {
			return &row[i]
		}
	}
	return nil
}

// offeredFor is how long the Token of a handoff is accepted.
func offeredFor(p policy.Protocol) time.Duration { return max(offerSaves*p.SaveWithin(), offerLeast) }

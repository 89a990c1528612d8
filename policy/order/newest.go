package order

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// "Newest wins." An order's stamp is a Lamport clock that is never behind the wall clock of its giver. So an operator's
// order is newer than every order that the giver knew; if the giver did not know the last one, the clocks decide. A
// pause ends by the wall clock of each member, because an order that carried its remaining time would change on its
// way.

// Next returns an order that this member gives now, newer than all that it knows; see [wire.Order] for until. The order
// has no effect before it comes back with Ordered.
func (l *Layer) Next(wall, until int64) wire.Order {
	stamp := uint64(max(time.Unix(0, wall).UnixMilli(), 1))
	return wire.Order{Stamp: max(stamp, l.order.Stamp+1), By: l.self, Until: until}
}

// listen takes from a message what is new in it. A message that the machine does not expect has no effect at all,
// because it may be a replay.
func (l *Layer) listen(wall int64, m *wire.Message) {
	if m.Order.Compare(l.order) <= 0 && m.Failures.Compare(&l.failures) <= 0 || !l.Expects(m) {
		return
	}
	l.hear(wall, m.Order)
	if m.Failures.Compare(&l.failures) > 0 && m.Order == l.order {
		l.failures = m.Failures
	}
}

// hear takes an order if it is newer than the one that this member knows. With each order the count of failures begins
// anew, because the operator who gives an order has looked at them. So a list of failures from a member with another
// order means nothing.
func (l *Layer) hear(wall int64, o wire.Order) {
	if o.Compare(l.order) > 0 && o.Stamp <= wire.LatestStamp(wall) {
		l.order = o
		l.failures = wire.Failures{} // The stamp of the list begins anew, too: only lists under one order are compared.
	}
}

// Newest is the newest order that this member knows; zero if there has been none.
func (l *Layer) Newest() wire.Order { return l.order }

// Here is when the pause of this member alone ends, in nanoseconds of Unix time.
func (l *Layer) Here() int64 { return l.here }

// Paused reports whether this member may not run, as of the last step.
func (l *Layer) Paused() bool { return l.paused }

// Failures are the hosts that have failed in a row, as far as this member knows.
func (l *Layer) Failures() wire.Failures { return l.failures }

// timeUntil is the time from wall to end, limited to the range of a duration: a clock may be wrong by centuries.
func timeUntil(wall, end int64) time.Duration {
	if d := end - wall; d >= 0 {
		return time.Duration(d)
	}
	return math.MaxInt64
}

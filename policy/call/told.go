package call

import (
	"time"

	"github.com/wanderd/wanderd/wire"
)

// Places returns the holder and the first home that a Queued or a Where names. Zero is one that its sender does not
// know.
func Places(m *wire.Message) (holder, home wire.MemberID) {
	if m.Kind != KindQueued && m.Kind != KindWhere {
		return wire.MemberID{}, wire.MemberID{}
	}
	return placesOf(&m.Load)
}

// Waits returns for how long the waiters have waited that a Next lists, the oldest first.
func Waits(m *wire.Message) (ages []time.Duration) {
	for i := 0; m.Kind == KindNext && i < mostTold; i++ {
		if t := toldOf(&m.Load, i); t.wait != 0 {
			ages = append(ages, t.age)
		}
	}
	return ages
}

package sim

import (
	"math"
	"time"
)

// MeasuredMembership is how the views of real agents follow what happens, in a fleet of so many: memberlist v0.7.0 as package
// membership sets it up for a network. A test beside real memberships prints what was measured, and holds these times to it:
//
//	go test ./cmd/wanderd/beside -run Membership -v
//
// Who starts asks somebody for the whole membership at once; the others hear of it by gossip. A member that died is suspected by the
// first who probes it in vain, which takes a second and what chance adds to it, and taken for dead 4 × max(1, log10 n) seconds later,
// if it is not back by then: one that is back in time was never gone. A parted network is noticed log10 n times later: the suspicions
// of many at once are confirmed more slowly. When it is whole again, a connection that was being tried goes through at the next packet,
// and everybody hears of it.
func MeasuredMembership(members int) Membership {
	size := math.Log10(max(float64(members), 2))
	detect := time.Second + time.Duration(4*max(1, size)*float64(time.Second))
	return Membership{
		GossipAfter: 20 * time.Millisecond, Spread: time.Duration(size * float64(600*time.Millisecond)),
		DetectAfter: detect, DetectMore: 800 * time.Millisecond, CutAfter: detect + time.Duration(size*float64(detect)),
		RejoinAfter: time.Second,
	}
}

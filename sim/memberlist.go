package sim

import (
	"math"
	"time"
)

// MeasuredMembership is how the views of real agents follow events in a fleet of this size: memberlist v0.7.0 as
// package membership sets it up for a network. A test beside real memberships prints the measured times and compares
// these with them:
//
//	go test ./lab/beside -run Membership -v
//
// A starting member asks another one for the whole membership at once; the others hear of it by gossip. The first
// member that probes a dead one in vain suspects it, after a second and a random time. After another 4 × max(1, log10
// n) seconds it takes that member for dead, unless it is back by then. A partition is noticed log10 n times later,
// because many suspicions at once are confirmed more slowly. When the network is whole again, a pending connection
// succeeds at the next packet, and all hear of it. A member that leaves tells up to toldAtOnce others itself.
func MeasuredMembership(members int) Membership {
	size := math.Log10(max(float64(members), 2))
	detect := time.Second + time.Duration(4*max(1, size)*float64(time.Second))
	spread := time.Duration(size * float64(750*time.Millisecond))
	leaves := spread
	if members <= toldAtOnce {
		leaves = 20 * time.Millisecond
	}
	return Membership{
		GossipAfter: 20 * time.Millisecond, Spread: spread, LeaveSpread: leaves,
		DetectAfter: detect, DetectMore: 800 * time.Millisecond, CutAfter: detect + time.Duration(size*float64(detect)),
		RejoinAfter: time.Second,
	}
}

// toldAtOnce is the number of others that a leaving member tells itself.
const toldAtOnce = 64

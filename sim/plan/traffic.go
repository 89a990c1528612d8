package plan

import (
	"crypto/ed25519"
	"math"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// Traffic is the gate's load on the network. A member receives as much as it sends, on average. Sizes include the
// headers of IPv4 and UDP.
type Traffic struct {
	// DatagramBytes is the size of a message, signed and sealed.
	DatagramBytes int `json:"datagram_bytes"`
	// Fleet… is what all members send together. Member… is what each member sends on average.
	FleetDatagrams  float64 `json:"fleet_datagrams_per_s"`
	MemberDatagrams float64 `json:"member_datagrams_per_s"`
	FleetBytes      float64 `json:"fleet_bytes_per_s"`
	MemberBytes     float64 `json:"member_bytes_per_s"`
	// GossipBytes estimates what the membership sends in addition, for each member, once for all gates of a fleet.
	GossipBytes float64 `json:"gossip_estimate_member_bytes_per_s"`
}

// datagramsPerHop is the number of datagrams in a hop: Token, Ack and Commit.
const datagramsPerHop = 3

// ipHeaders is the size of the headers that IPv4 and UDP put before a datagram.
const ipHeaders = 20 + 8

func trafficOf(members int, datagrams float64) Traffic {
	size := datagramSize() + ipHeaders
	n := float64(members)
	return Traffic{
		DatagramBytes:  size,
		FleetDatagrams: datagrams, MemberDatagrams: datagrams / n,
		FleetBytes: datagrams * float64(size), MemberBytes: datagrams * float64(size) / n,
		GossipBytes: gossipBytes(members),
	}
}

// datagramSize returns the length of an agent's datagram. It is the same for all kinds.
func datagramSize() int {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	codec, err := wire.NewCodec(key, rand.NewChaCha8([32]byte{}), wire.Secret{})
	if err != nil {
		panic("plan: " + err.Error()) // only for a bad key, or a secret without random nonces
	}
	return len(codec.Append(nil, &wire.Message{}))
}

// The cost of gossip, from memberlist's settings for a local network and the sizes of its messages with names of ten
// letters, in a fleet where no member comes or goes.
const (
	// Each member probes another one each second, and answers one probe.
	probeBytes    = 180 + ipHeaders
	answerBytes   = 55 + ipHeaders
	probeInterval = time.Second
	// Two members exchange what they know of all members. In each interval a member begins one such exchange and takes
	// part in another; above syncScaleAbove members the interval grows with the logarithm of the fleet.
	syncBytesPerMember = 150
	syncInterval       = 15 * time.Second
	syncScaleAbove     = 32
)

// gossipBytes estimates how many bytes a second each member sends for the membership.
func gossipBytes(members int) float64 {
	interval := syncInterval.Seconds()
	if members > syncScaleAbove {
		interval *= math.Ceil(math.Log2(float64(members)/syncScaleAbove)) + 1
	}
	return (probeBytes+answerBytes)/probeInterval.Seconds() + 2*syncBytesPerMember*float64(members)/interval
}

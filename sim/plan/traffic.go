package plan

import (
	"crypto/ed25519"
	"math"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// Traffic is what the gate asks of the network. Every datagram that one member sends another receives, so what a member
// receives is as much as it sends. Sizes include the headers of IPv4 and UDP.
type Traffic struct {
	// DatagramBytes is the size of a message, signed and sealed.
	DatagramBytes int `json:"datagram_bytes"`
	// Fleet and Member are how many datagrams a second all members send together, and each on average.
	FleetDatagrams  float64 `json:"fleet_datagrams_per_s"`
	MemberDatagrams float64 `json:"member_datagrams_per_s"`
	FleetBytes      float64 `json:"fleet_bytes_per_s"`
	MemberBytes     float64 `json:"member_bytes_per_s"`
	// GossipBytes is an estimate of what the membership sends besides, for each member; all gates of a fleet share it.
	GossipBytes float64 `json:"gossip_estimate_member_bytes_per_s"`
}

// datagramsPerHop are Token, Ack and Commit.
const datagramsPerHop = 3

// ipHeaders is what IPv4 and UDP put before a datagram.
const ipHeaders = 20 + 8

// trafficOf returns what a fleet sends that sends so many datagrams a second.
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

// datagramSize is the length of a datagram as an agent makes it: all kinds have one.
func datagramSize() int {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	codec, err := wire.NewCodec(key, &wire.Secret{}, zeros{})
	if err != nil {
		panic("plan: " + err.Error()) // only for a bad key, or a secret without random nonces
	}
	return len(codec.Append(nil, &wire.Message{}))
}

// zeros are the nonces of a datagram that nobody is going to read.
type zeros struct{}

// Read fills p with zeros.
func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// What gossip costs, from how memberlist works on a local network and from the sizes of its messages with names of ten
// letters. What it sends when members come and go is not in it: in a quiet fleet there is none.
const (
	// Each member probes one other a second, and answers one probe.
	probeBytes    = 180 + ipHeaders
	answerBytes   = 55 + ipHeaders
	probeInterval = time.Second
	// Two members exchange all they know of all members. Each begins one such exchange in an interval that grows with the
	// logarithm of the fleet above so many members, and takes part in another one's.
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

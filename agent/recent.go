package agent

import (
	"hash/maphash"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// recent remembers the last things by a key that is not 0. A new one takes the place of the oldest of its row, so it never grows.
type recent[V any] struct {
	rows [][recentWays]kept[V]
	next []uint8
}

const recentWays = 4

type kept[V any] struct {
	value V
	key   uint64
}

func newRecent[V any](rows int) recent[V] {
	return recent[V]{rows: make([][recentWays]kept[V], rows), next: make([]uint8, rows)}
}

// find returns what is kept under a key; nil if that is nothing.
func (r *recent[V]) find(key uint64) *V {
	row := &r.rows[key>>32%uint64(len(r.rows))]
	for i := range row {
		if row[i].key == key {
			return &row[i].value
		}
	}
	return nil
}

// add keeps a value under a key that is not kept yet.
func (r *recent[V]) add(key uint64, value V) {
	at := key >> 32 % uint64(len(r.rows))
	r.rows[at][r.next[at]] = kept[V]{value, key}
	r.next[at] = (r.next[at] + 1) % recentWays
}

// duplicateRows are rows of digests: of the last 65,000 datagrams, which is 512 KiB, and minutes even of a fleet whose members send each other a
// hundred a second.
const duplicateRows = 1 << 14

// duplicates are the digests of the last authentic datagrams. A datagram that was recorded and is played back is dropped before it is
// decrypted, and takes no place in a queue. Nobody sends the same sealed datagram twice, because each has a random nonce; and only a
// sender with the secret can make one that is remembered. Only the reader uses it.
type duplicates struct {
	seed maphash.Seed
	recent[struct{}]
}

func newDuplicates() *duplicates {
	return &duplicates{maphash.MakeSeed(), newRecent[struct{}](duplicateRows)}
}

// digest is the same for the same bytes, and is not 0.
func (d *duplicates) digest(datagram []byte) uint64 { return maphash.Bytes(d.seed, datagram) | 1 }

const (
	// offerRows are rows of handoffs: the last 16,000, which is 256 KiB, and hours of them.
	offerRows = 1 << 12
	// offerSaves is for how many of the longest saves after which a run may start (half a timeout) the Token of a handoff is accepted:
	// twice the sixteen timeouts for which it is repeated. offerLeast is the least time.
	offerSaves = 64
	offerLeast = 2 * time.Second
)

// offers remembers by time which handoffs were offered to this member. A Token that comes later than a sender repeats it is one that
// somebody plays back: it would take one of the few places for incoming handoffs. A machine remembers the last few handoffs only. Only
// the loop uses it. Kept is when the Token of a handoff came first.
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
func offeredFor(p policy.Protocol) time.Duration { return max(offerSaves*p.SaveWithin(), offerLeast) }

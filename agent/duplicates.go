package agent

import "hash/maphash"

const (
	// duplicateRows × duplicateWays digests are remembered: of the last 65,000 datagrams, which is 512 KiB, and minutes even of a fleet
	// whose members send each other a hundred a second.
	duplicateRows = 1 << 14
	duplicateWays = 4
)

// duplicates are the digests of the last authentic datagrams. What somebody has recorded and plays back is dropped before it is
// decrypted, and takes no place in a queue. Nobody sends the same sealed datagram twice, because each has a random nonce; and only
// who has the secret can make one that is remembered. Only the reader uses it.
type duplicates struct {
	seed maphash.Seed
	rows [duplicateRows][duplicateWays]uint64
	next [duplicateRows]uint8
}

func newDuplicates() *duplicates { return &duplicates{seed: maphash.MakeSeed()} }

// digest is the same for the same bytes, and is not 0.
func (d *duplicates) digest(datagram []byte) uint64 { return maphash.Bytes(d.seed, datagram) | 1 }

// has reports whether the datagram is remembered.
func (d *duplicates) has(digest uint64) bool {
	row := &d.rows[digest>>32%duplicateRows]
	return row[0] == digest || row[1] == digest || row[2] == digest || row[3] == digest
}

// add remembers a datagram in place of the oldest of its row.
func (d *duplicates) add(digest uint64) {
	at := digest >> 32 % duplicateRows
	d.rows[at][d.next[at]] = digest
	d.next[at] = (d.next[at] + 1) % duplicateWays
}

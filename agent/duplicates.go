package agent

import "hash/maphash"

// duplicateRows are rows of digests: of the last 65,000 datagrams, which is 512 KiB, and minutes even of a fleet whose
// members send each other a hundred a second.
const duplicateRows = 1 << 14

// duplicates are the digests of the last authentic datagrams. A datagram that was recorded and is played back is
// dropped before it is decrypted, and takes no place in a queue. Nobody sends the same sealed datagram twice, because
// each has a random nonce; and only a sender with the secret can make one that is remembered. Only the reader uses it.
type duplicates struct {
	seed maphash.Seed
	recent[struct{}]
}

func newDuplicates() *duplicates {
	return &duplicates{maphash.MakeSeed(), newRecent[struct{}](duplicateRows)}
}

// digest is the same for the same bytes, and is not 0.
func (d *duplicates) digest(datagram []byte) uint64 { return maphash.Bytes(d.seed, datagram) | 1 }

package agent

import "hash/maphash"

// duplicateRows is the number of rows of digests. They hold the last 65,000 datagrams in 512 KiB: minutes, even in a
// fleet whose members send each other a hundred datagrams a second.
const duplicateRows = 1 << 14

// duplicates are the digests of the last authentic datagrams. They let the reader drop a datagram that was recorded and
// is played back, before it is decrypted or takes a place in a queue. Nobody sends the same sealed datagram twice,
// because each has a random nonce; and only a sender with the secret can make a datagram that is remembered. Only the
// reader uses them.
type duplicates struct {
	seed maphash.Seed
	recent[struct{}]
}

func newDuplicates() *duplicates {
	return &duplicates{maphash.MakeSeed(), newRecent[struct{}](duplicateRows)}
}

// digest returns the same number for the same bytes, and never 0.
func (d *duplicates) digest(datagram []byte) uint64 { return maphash.Bytes(d.seed, datagram) | 1 }

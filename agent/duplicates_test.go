package agent

import (
	"encoding/binary"
	"testing"
)

func TestDatagramsOfAWhileAreRemembered(t *testing.T) {
	d := newDuplicates()
	datagram := func(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)) }
	const recent = duplicateRows * recentWays / 8
	for i := range 10 * recent {
		digest := d.digest(datagram(i))
		if d.find(digest) != nil {
			t.Fatalf("datagram %d was there before it came", i)
		}
		d.add(digest, struct{}{})
	}
	forgotten := 0
	for i := range recent {
		if d.find(d.digest(datagram(10*recent-1-i))) == nil {
			forgotten++
		}
	}
	// The rows fill unevenly.
	if forgotten > recent/100 {
		t.Errorf("of the last %d datagrams, %d are forgotten", recent, forgotten)
	}
}

package packets

import (
	"net/netip"
	"sync"
)

// maxAnswers is more than the number of pings that memberlist has not answered yet. There is one in each packet that
// waits, because memberlist answers a ping before it reads the next packet.
const maxAnswers = 2 * QueueSize

// Answers holds the address and the greatest length of each answer to a ping in the clear. Without a secret anybody can
// send a ping, in anybody's name, and memberlist sends its answer to the address that the ping names, with gossip on
// top. Here an answer goes to the address from which the ping came, and is no longer than the ping.
type Answers struct {
	mu   sync.Mutex
	due  [maxAnswers]answer
	next int
}

type answer struct {
	Ping
	from netip.AddrPort
}

// Owe records that memberlist is about to answer a ping from an address.
func (a *Answers) Owe(p Ping, from netip.AddrPort) {
	from = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
	if !p.to.IsValid() {
		p.to = from
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.due[a.next] = answer{Ping: p, from: from}
	a.next = (a.next + 1) % maxAnswers
}

// Send returns what to send instead of a packet of memberlist, and to which address. A packet that answers no ping is
// not changed. An answer goes to the address from which the ping came, without the gossip if the gossip makes it longer
// than the ping. Send returns nothing for an answer that no ping asked for, or that is longer even without the gossip.
func (a *Answers) Send(b []byte, to netip.AddrPort) ([]byte, netip.AddrPort) {
	var first []byte
	eachPart(b, func(_ int, part []byte) bool {
		first = part
		return false
	})
	if len(first) == 0 || first[0] != AckRespMsg {
		return b, to
	}
	ack, ok := readPing(first) // acks have their number in the same place
	from, size := a.settle(ack.seq, to)
	switch {
	case !ok || len(first) > size:
		return nil, to
	case len(b) > size:
		return first, from
	}
	return b, from
}

// settle finds the oldest ping that this answers, and returns its source and its length.
func (a *Answers) settle(seq uint64, to netip.AddrPort) (from netip.AddrPort, size int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range maxAnswers {
		if d := &a.due[(a.next+i)%maxAnswers]; d.seq == seq && d.to == to && d.Size > 0 {
			from, size = d.from, d.Size
			*d = answer{}
			return from, size
		}
	}
	return from, 0
}

// QueueSize is how many datagrams can wait for memberlist; further ones are dropped and counted.
const QueueSize = 512

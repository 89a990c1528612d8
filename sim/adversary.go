package sim

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// heard is a handoff that an adversary on the network has recorded: what its sender sent.
type heard struct{ token, commit wire.Message }

// adversary records handoffs and plays them again: first the Token, a while later the Commit. It can forge nothing, because
// messages are signed, and it delivers only to whom a message is addressed, because anybody else drops it.
type adversary struct {
	record [128]heard
	next   int
}

// overhear is told of every message that is sent.
func (c *Cluster) overhear(m *wire.Message) {
	a := &c.net.adversary
	last := func(i int) *heard { return &a.record[(a.next-1-i+2*len(a.record))%len(a.record)] }
	switch m.Kind {
	case wire.KindToken:
		if last(0).token.Handoff != m.Handoff {
			a.record[a.next] = heard{token: *m}
			a.next = (a.next + 1) % len(a.record)
		}
	case wire.KindCommit:
		for i := range a.record {
			if h := last(i); h.token.Handoff == m.Handoff {
				h.commit = *m
				break
			}
		}
		for n := c.net.Replay; happens(c.netDice, n); n-- {
			c.replay(&a.record[c.netDice.IntN(len(a.record))])
		}
	case wire.KindAck, wire.KindBeat, wire.KindAsk, wire.KindHeard, wire.KindKnown, wire.KindBuried, wire.KindInquiry, wire.KindSeen:
	}
}

// replay plays a handoff again, some time soon.
func (c *Cluster) replay(h *heard) {
	if h.token.Kind == 0 {
		return
	}
	at := c.now.Add(c.upTo(c.net.ReplayWithin))
	c.replayAt(h.token, at)
	if h.commit.Kind != 0 {
		roundTrip := 2*(c.net.Latency+c.net.Jitter) + time.Millisecond
		c.replayAt(h.commit, at.Add(c.upTo(2*roundTrip)))
	}
}

func (c *Cluster) replayAt(m wire.Message, at policy.Time) {
	c.At(at, func() { c.Inject(m) })
}

// upTo draws a duration from 0 to d.
func (c *Cluster) upTo(d time.Duration) time.Duration {
	return time.Duration(c.netDice.Uint64N(uint64(max(d, 0)) + 1))
}

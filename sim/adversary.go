package sim

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// heard is a handoff that an adversary on the network has recorded: the messages of its sender.
type heard struct{ token, commit wire.Message }

// adversary records handoffs and replays them: first the Token, a while later the Commit. It replays the messages
// between holders and guardians one by one. It cannot forge, because messages are signed. It delivers a message only to
// its addressee, because any other member drops it.
type adversary struct {
	handoffs [128]heard
	next     int
	// words are the last messages of each kind. With one record for all kinds, a kind that is sent all the time would
	// displace the others.
	words []spoken
}

// spoken has the last messages of one kind, each new one over the oldest. said counts them.
type spoken struct {
	kind wire.Kind
	last [32]wire.Message
	said int
}

func (a *adversary) listen(kinds policy.Kinds) {
	for _, k := range kinds {
		if k.Part == policy.Asks || k.Part == policy.Tells {
			a.words = append(a.words, spoken{kind: k.Kind})
		}
	}
}

// overhear is called for every message that is sent. The adversary becomes active when a token changes hands, and when
// a member asks who holds it.
func (c *Cluster) overhear(m *wire.Message) {
	a := &c.net.adversary
	last := func(i int) *heard { return &a.handoffs[(a.next-1-i+2*len(a.handoffs))%len(a.handoffs)] }
	part := c.cfg.Descriptor.Kinds.Part(m.Kind)
	switch part {
	case policy.Offers:
		if last(0).token.Exchange != m.Exchange {
			a.handoffs[a.next] = heard{token: *m}
			a.next = (a.next + 1) % len(a.handoffs)
		}
	case policy.Passes:
		for i := range a.handoffs {
			if h := last(i); h.token.Exchange == m.Exchange {
				h.commit = *m
				break
			}
		}
		c.disturb()
	case policy.Asks, policy.Tells:
		i := slices.IndexFunc(a.words, func(w spoken) bool { return w.kind == m.Kind })
		w := &a.words[i]
		w.last[w.said%len(w.last)] = *m
		w.said++
		if part == policy.Asks {
			c.disturb()
		}
	case policy.NoPart, policy.Accepts:
	}
}

// disturb replays, some time soon, a part of what was recorded.
func (c *Cluster) disturb() {
	a, roundTrip := &c.net.adversary, 2*(c.net.Latency+c.net.Jitter)+time.Millisecond
	for n := c.net.Replay; happens(c.netDice, n); n-- {
		at := c.now.Add(c.upTo(c.net.ReplayWithin))
		if c.netDice.Uint64()&1 == 0 || len(a.words) == 0 {
			h := &a.handoffs[c.netDice.IntN(len(a.handoffs))]
			c.replay(h.token, at)
			c.replay(h.commit, at.Add(c.upTo(2*roundTrip)))
			continue
		}
		w := &a.words[c.netDice.IntN(len(a.words))]
		c.replay(w.last[c.netDice.IntN(len(w.last))], at)
	}
}

// replay sends the message at that place of the record again, if there is one.
func (c *Cluster) replay(m wire.Message, at policy.Time) {
	if m.Kind != 0 {
		c.At(at, func() { c.Inject(m) })
	}
}

// upTo draws a duration from 0 to d.
func (c *Cluster) upTo(d time.Duration) time.Duration {
	return time.Duration(c.netDice.Uint64N(uint64(max(d, 0)) + 1))
}

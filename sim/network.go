package sim

import (
	"cmp"
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Network describes the network. The zero value delivers every message at once.
type Network struct {
	// A message takes Latency and up to Jitter more. Jitter reorders messages.
	Latency, Jitter time.Duration
	// The last Distant members are further away: a message to or from one of them takes Away longer. If Together is set
	// they share one place; otherwise each is at a place of its own.
	Distant  int
	Away     time.Duration
	Together bool
	// Loss is the share of messages that do not arrive, Duplicate of those that arrive twice.
	Loss, Duplicate float64
	// Late is the share of messages that take up to LateBy more.
	Late   float64
	LateBy time.Duration
	// Broken is the share of ordered pairs of members that never deliver.
	Broken float64
	// Replay is how many handoffs, or messages that ask or tell, an adversary replays, up to ReplayWithin later, for
	// each handoff and each question that it hears.
	Replay       float64
	ReplayWithin time.Duration
	// FIFO makes the messages from one member to another arrive in the order in which they were sent, as on a
	// connection. Messages that were sent to an earlier life of a member never arrive.
	FIFO bool
	// Encode encodes and parses every message on its way.
	Encode bool
}

// Fate is a script's decision about one message.
type Fate struct {
	// Lose means that the message is lost. Otherwise it takes Delay more than the usual latency, and Copies more of it
	// arrive.
	Lose   bool
	Delay  time.Duration
	Copies int
}

type network struct {
	Network
	// sides are those of a parted network, from 0; nil while it is whole. oneWayCut is true if messages of the second
	// side still reach the first.
	sides     []uint8
	oneWayCut bool
	oneWay    oneWay
	intercept func(*wire.Message) Fate
	adversary adversary
	datagram  []byte
	// latest is when the last message on a link arrives. lastFrom is when the last message of each member does: see
	// [Membership.Perfect].
	latest   map[link]policy.Time
	lastFrom []policy.Time
}

type link struct{ from, to int32 }

// SetNetwork changes the network from now on.
func (c *Cluster) SetNetwork(n Network) { c.net.Network = n }

// Loses reports whether the network may lose single messages now.
func (c *Cluster) Loses() bool { return c.net.Loss+c.net.Late > 0 || c.net.intercept != nil }

// Intercept calls decide for every message that is sent from now on; nil ends that.
func (c *Cluster) Intercept(decide func(*wire.Message) Fate) { c.net.intercept = decide }

// MaxParts is the largest number of parts of a network.
const MaxParts = 4

// Part divides the network: members with sides[i] do not hear the others. The others do not hear them either, unless
// oneWay is set.
func (c *Cluster) Part(sides []bool, oneWay bool) {
	parts := make([]uint8, len(sides))
	for i, second := range sides {
		if second {
			parts[i] = 1
		}
	}
	c.Divide(parts, oneWay)
}

// Divide parts the network: members hear only those of the same part. The parts are numbered from 0, and there are at
// most MaxParts. With oneWay there are two parts, and messages of the second still reach the first.
func (c *Cluster) Divide(parts []uint8, oneWay bool) {
	c.net.sides, c.net.oneWayCut = parts, oneWay
	for s := 1; s < MaxParts; s++ {
		if c.directives.spread[0].Compare(c.directives.spread[s]) > 0 {
			// If side s has a newer directive, the sides of the last partition have not told each other yet.
			c.directives.spread[s] = c.directives.spread[0]
		}
	}
	c.tell(Occurrence{Kind: Cut, OneWay: oneWay})
	m := &c.cfg.Membership
	c.recheckAll(cmp.Or(m.CutAfter, m.DetectAfter))
}

// Reaches reports whether messages from one member may reach another one.
func (c *Cluster) Reaches(from, to int) bool { return c.net.reaches(from, to) }

// Repair makes the network whole in both directions and replaces it by n.
func (c *Cluster) Repair(n Network) {
	clear(c.net.oneWay.deaf)
	clear(c.net.oneWay.mute)
	clear(c.net.oneWay.apart)
	c.Heal()
	c.SetNetwork(n)
}

// Heal makes the network whole.
func (c *Cluster) Heal() {
	if c.net.sides == nil {
		return
	}
	c.net.sides = nil
	c.tell(Occurrence{Kind: Healed})
	c.recheckAll(c.cfg.Membership.RejoinAfter)
	if c.directives.layers != nil {
		c.After(c.cfg.Membership.RejoinAfter, func() {
			for _, o := range c.directives.spread[1:] {
				c.gossip(0, o)
			}
		})
	}
}

// Inject delivers at once a message that no machine has sent.
func (c *Cluster) Inject(m wire.Message) {
	c.tell(Occurrence{Kind: Played, Msg: &m})
	c.post(&m, c.now)
}

func (c *Cluster) send(m *wire.Message) {
	n := &c.net
	if n.Replay > 0 {
		c.overhear(m)
	}
	from, to := IndexOf(m.From), IndexOf(m.To)
	if !n.reaches(from, to) || happens(c.netDice, n.Loss) || n.Broken > 0 && n.broken(c.cfg.Seed, from, to) {
		c.tell(Occurrence{Kind: Lost, Msg: m})
		return
	}
	var fate Fate
	if n.intercept != nil {
		fate = n.intercept(m)
	}
	if happens(c.netDice, n.Duplicate) {
		fate.Copies++
	}
	if fate.Lose {
		c.tell(Occurrence{Kind: Lost, Msg: m})
		return
	}
	c.post(m, c.arrives(from, to, fate.Delay))
	for range fate.Copies {
		c.tell(Occurrence{Kind: Duplicated, Msg: m})
		c.post(m, c.arrives(from, to, fate.Delay))
	}
}

// arrives returns when a message that is sent now arrives. Where all messages take equally long, they arrive in order
// anyway.
func (c *Cluster) arrives(from, to int, delay time.Duration) policy.Time {
	n := &c.net
	at := c.now.Add(delay + c.latency() + n.distance(from, to, len(c.members)))
	if n.FIFO && (n.Jitter > 0 || n.LateBy > 0 || n.intercept != nil) {
		on := link{int32(from), int32(to)}
		at = max(at, n.latest[on])
		n.latest[on] = at
	}
	n.lastFrom[from] = max(n.lastFrom[from], at)
	return at
}

func (c *Cluster) latency() time.Duration {
	n := &c.net
	d := n.Latency
	if n.Jitter > 0 {
		d += time.Duration(c.netDice.Uint64N(uint64(n.Jitter)))
	}
	if n.LateBy > 0 && happens(c.netDice, n.Late) {
		d += time.Duration(c.netDice.Uint64N(uint64(n.LateBy)))
	}
	return d
}

// distance returns how much longer a message takes between two members of a fleet of this size.
func (n *Network) distance(from, to, members int) (away time.Duration) {
	fromFar, toFar := from >= members-n.Distant, to >= members-n.Distant
	if fromFar && toFar && n.Together {
		return 0
	}
	if fromFar {
		away += n.Away
	}
	if toFar {
		away += n.Away
	}
	return away
}

// Sound returns this network without faults: every message arrives once, as late as before.
func (n *Network) Sound() Network {
	return Network{
		Latency: n.Latency, Jitter: n.Jitter, Distant: n.Distant, Away: n.Away, Together: n.Together, FIFO: n.FIFO,
		Encode: n.Encode,
	}
}

// RoundTrip returns the longest time that a message and its answer take, not counting late ones.
func (n *Network) RoundTrip() time.Duration {
	oneWay := n.Latency + n.Jitter
	switch {
	case n.Distant > 1 && !n.Together:
		oneWay += 2 * n.Away
	case n.Distant > 0:
		oneWay += n.Away
	}
	return 2 * oneWay
}

// post puts a message into the addressee's mail.
func (c *Cluster) post(m *wire.Message, at policy.Time) {
	slot := c.mail.reserve()
	l := &c.mail.items[slot]
	l.event.Kind, l.event.Msg, l.life = policy.Received, *m, c.members[IndexOf(m.To)].life
	if c.net.Encode {
		c.net.datagram = m.Append(c.net.datagram[:0])
		read, ok := wire.Parse(c.net.datagram)
		if wellFormed := c.cfg.Descriptor.WellFormed; !ok || read != *m || wellFormed != nil && !wellFormed(m) {
			c.failure = fmt.Errorf("wire: %s from member %d does not survive the wire: sent %+v, read %+v",
				c.cfg.Descriptor.Kinds.Of(m.Kind).Name, IndexOf(m.From), *m, read)
		}
	}
	c.push(entryDeliver, at, int32(IndexOf(m.To)), slot)
}

func (n *network) reaches(from, to int) bool {
	if n.oneWay.stops(from, to) {
		return false
	}
	switch {
	case n.sides == nil:
		return true
	case n.oneWayCut:
		return n.sides[from] == 1 || n.sides[to] == 0
	}
	return n.sides[from] == n.sides[to]
}

// isParted reports whether no side reaches the other.
func (n *network) isParted() bool { return n.sides != nil && !n.oneWayCut }

// broken reports whether an ordered pair never delivers. These are the same pairs in a whole run.
func (n *network) broken(seed uint64, from, to int) bool {
	return float64(Mix(seed^Mix(uint64(from)<<32|uint64(to)))>>11)/(1<<53) < n.Broken
}

// letter is a message on its way to one life of its addressee; life 0 if that has not started yet. It is stored as the
// event that it will be: a message is large, so it is copied only once.
type letter struct {
	event policy.Event
	life  int32
}

func (c *Cluster) deliver(who, slot int32) {
	m := &c.members[who]
	letter := &c.mail.items[slot]
	if !m.up || !c.cfg.Descriptor.Speaks(&letter.event.Msg) || c.net.FIFO && letter.life != m.life && letter.life > 0 {
		c.lose(slot)
		return
	}
	if happens(c.netDice, c.cfg.EarlyWakes) {
		c.wakeEarly(who)
		if !m.up {
			c.lose(slot)
			return
		}
	}
	expected := (c.cfg.AskFirst || len(c.watchers) > 0) && m.machine.Expects(&letter.event.Msg)
	if c.cfg.AskFirst && !expected {
		c.tell(Occurrence{Kind: Ignored, Member: int(who), Msg: &letter.event.Msg})
	} else {
		c.step(who, &letter.event, about{expected: expected})
	}
	c.mail.drop(slot)
}

func (c *Cluster) wakeEarly(who int32) {
	if at, ok := c.stepping(who).NextWake(); ok && c.clockOf(who).shows(at) <= c.now {
		return
	}
	c.event.Kind = policy.Woke
	c.step(who, &c.event, about{})
}

func (c *Cluster) lose(slot int32) {
	c.tell(Occurrence{Kind: Lost, Msg: &c.mail.items[slot].event.Msg})
	c.mail.drop(slot)
}

// oneWay has the members that the network serves in one direction only, and the pairs that it does not serve. This does
// not show in the views: gossip finds other ways.
type oneWay struct {
	// deaf members hear nothing; mute members are not heard.
	deaf, mute map[int]bool
	// apart are pairs of a sender and an addressee.
	apart map[link]bool
}

// stops reports whether a message does not arrive because of its sender or its addressee.
func (w *oneWay) stops(from, to int) bool {
	return len(w.deaf)+len(w.mute)+len(w.apart) > 0 &&
		(w.mute[from] || w.deaf[to] || w.apart[link{int32(from), int32(to)}])
}

// Deafen makes member i deaf from now on: nothing reaches it; or ends that.
func (c *Cluster) Deafen(i int, deaf bool) { c.net.oneWay.deaf[i] = deaf }

// Mute makes member i mute from now on: it reaches nobody; or ends that.
func (c *Cluster) Mute(i int, mute bool) { c.net.oneWay.mute[i] = mute }

// CutLink lets no message of one member reach another one until [Cluster.Repair].
func (c *Cluster) CutLink(from, to int) { c.net.oneWay.apart[link{int32(from), int32(to)}] = true }

// Hears reports whether member i is not deaf.
func (c *Cluster) Hears(i int) bool { return !c.net.oneWay.deaf[i] }

// IsHeard reports whether member i is not mute.
func (c *Cluster) IsHeard(i int) bool { return !c.net.oneWay.mute[i] }

package sim

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Membership describes how the members' views follow events. With the zero value they follow at once; see also
// [MeasuredMembership].
type Membership struct {
	// GossipAfter is how long it takes until a join, a leave, a return or an announcement is known.
	GossipAfter time.Duration
	// DetectAfter is how long it takes until a crash, a pause or a partition is noticed.
	DetectAfter time.Duration
	// DetectMore is the mean of a random time by which a crash or a pause is noticed later.
	DetectMore time.Duration
	// CutAfter is how long a partition goes unnoticed. Zero stands for DetectAfter.
	CutAfter time.Duration
	// RejoinAfter is how long it takes until the two sides of a healed partition have found each other.
	RejoinAfter time.Duration
	// Spread is the difference between members: each learns of a change up to Spread later. If the change is that a
	// member leaves in order, it may be up to LeaveSpread later instead; zero stands for Spread.
	Spread, LeaveSpread time.Duration
	// Perfect makes a crash known only after the last message of the crashed member has arrived.
	Perfect bool
}

// Noticed is a time within which each member has noticed what has happened to another one, except with a chance of one
// in millions.
func (m *Membership) Noticed() time.Duration {
	first := max(m.GossipAfter, m.DetectAfter+20*m.DetectMore, m.CutAfter, m.RejoinAfter)
	return first + max(m.Spread, m.LeaveSpread) + 1
}

// View returns the members that member i sees. It is nil if the member has no view yet. It must not be changed.
func (c *Cluster) View(i int) []wire.MemberID {
	if seen := c.members[i].seen.peers; seen != nil {
		return *seen
	}
	return nil
}

// roll has the live members of a view in the order of their identities. It is never changed.
type roll []wire.MemberID

// view is what a member sees: the live members, and whether another one has met a token. Members with the same view
// share a roll.
type view struct {
	peers *roll
	known bool
}

// views is the membership: what each side of the network believes. A whole network has only the first side.
type views struct {
	// byRank are the members in the order of their identities.
	byRank []int32
	// announced are the members that have announced a token.
	announced []bool
	sides     [MaxParts]belief
	// pending are the members that will soon get the view of their side. sidePending are the sides of which all members
	// will.
	pending     []bool
	sidePending [MaxParts]bool
}

type belief struct {
	alive []bool
	// knows are the members that are known to have met a token. known counts the live ones among them.
	knows []bool
	// peers is made from alive when it is needed. It is nil after a change.
	peers *roll
	known int
}

func newViews(members []member) views {
	v := views{
		byRank: make([]int32, len(members)), announced: make([]bool, len(members)), pending: make([]bool, len(members)),
	}
	for i := range v.byRank {
		v.byRank[i] = int32(i)
	}
	slices.SortFunc(v.byRank, func(a, b int32) int { return members[a].id.Compare(members[b].id) })
	for s := range v.sides {
		v.sides[s] = belief{alive: make([]bool, len(members)), knows: make([]bool, len(members))}
	}
	return v
}

// believe makes all sides believe that a member is alive, and whether it has met a token.
func (v *views) believe(who int32, knows bool) {
	for s := range v.sides {
		v.sides[s].set(who, true, knows)
	}
}

// set changes the belief about one member, and reports whether any view changes with it.
func (b *belief) set(who int32, alive, knows bool) bool {
	knows = knows && alive
	before := b.known
	if b.knows[who] != knows {
		b.knows[who] = knows
		if knows {
			b.known++
		} else {
			b.known--
		}
	}
	changed := b.alive[who] != alive
	if changed {
		b.alive[who] = alive
		b.peers = nil
	}
	// Once two members have met a token, views do not change if another one has.
	return changed || min(before, 2) != min(b.known, 2)
}

// view returns the view of a member of this side.
func (v *views) view(b *belief, members []member, who int32) view {
	if b.peers == nil {
		peers := make(roll, 0, len(members))
		for _, i := range v.byRank {
			if b.alive[i] {
				peers = append(peers, members[i].id)
			}
		}
		b.peers = &peers
	}
	others := b.known
	if b.knows[who] {
		others--
	}
	return view{peers: b.peers, known: others > 0}
}

// side returns the side of the network that a member is on, as far as the membership can tell: it finds ways around a
// break in one direction.
func (c *Cluster) side(who int32) int {
	if c.net.isParted() {
		return int(c.net.sides[who])
	}
	return 0
}

// detectAfter draws when a crash or a pause is noticed.
func (c *Cluster) detectAfter() time.Duration {
	m := &c.cfg.Membership
	if m.DetectMore <= 0 {
		return m.DetectAfter
	}
	return m.DetectAfter + time.Duration(c.memberDice.ExpFloat64()*float64(m.DetectMore))
}

func (c *Cluster) recheck(who int32) {
	m := &c.members[who]
	answers := m.up && m.awayUntil <= c.now
	within := c.cfg.Membership.Spread
	if left := !m.up && m.leaving; left && c.cfg.Membership.LeaveSpread > 0 {
		within = c.cfg.Membership.LeaveSpread
	}
	for s := range c.views.sides {
		alive := answers && (!c.net.isParted() || c.side(who) == s)
		if c.views.sides[s].set(who, alive, c.views.announced[who]) {
			c.spread(s, within)
		}
		if alive {
			c.hearStanding(s, who)
		}
	}
}

func (c *Cluster) recheckAll(after time.Duration) {
	for i := range c.members {
		c.push(entryRecheck, c.now.Add(after), int32(i), 0)
		c.push(entryView, c.now.Add(after), int32(i), 0)
	}
}

// announce carries out the effect: this member has met a token, and the others are to know it.
func (c *Cluster) announce(who int32) {
	c.views.announced[who] = true
	c.push(entryRecheck, c.now.Add(c.cfg.Membership.GossipAfter), who, 0)
}

// spread gives the view of a side to all its members, each at a random time up to within later.
func (c *Cluster) spread(side int, within time.Duration) {
	if within <= 0 {
		if !c.views.sidePending[side] {
			c.views.sidePending[side] = true
			c.push(entrySideView, c.now, absent, int32(side))
		}
		return
	}
	for i := range c.members {
		who := int32(i)
		if c.views.pending[i] || !c.members[i].up || c.side(who) != side {
			continue
		}
		c.views.pending[i] = true
		late := time.Duration(c.memberDice.Uint64N(uint64(within)))
		c.push(entryView, c.now.Add(late), who, 0)
	}
}

// giveSideView gives the view of a side to all its members at once. Members that are away get it when they are back.
func (c *Cluster) giveSideView(side int) {
	c.views.sidePending[side] = false
	for i := range c.members {
		who := int32(i)
		switch {
		case !c.members[i].up || c.side(who) != side:
		case c.Away(i):
			c.push(entryView, c.members[i].awayUntil, who, 0)
		default:
			c.giveView(who)
		}
	}
}

// giveView gives a member the view of its side. A member that its side takes for dead keeps the view it has: it sees
// itself.
func (c *Cluster) giveView(who int32) {
	c.views.pending[who] = false
	c.hearDirective(who)
	b := &c.views.sides[c.side(who)]
	if c.members[who].up && b.alive[who] {
		c.showView(who, c.views.view(b, c.members, who))
	}
}

// showView tells a machine what it sees, if that has changed.
func (c *Cluster) showView(who int32, v view) {
	m := &c.members[who]
	if !m.up || v.known == m.seen.known && same(v.peers, m.seen.peers) {
		return
	}
	m.seen = v
	m.hasSeenOthers = m.hasSeenOthers || len(*v.peers) > 1
	c.lookAround(who)
	c.event.Kind, c.event.Peers, c.event.TokenKnown = policy.PeersChanged, *v.peers, v.known
	c.step(who, &c.event, about{})
}

// outsidersMet is how long a host must have seen others until it believes that none of them has the gate.
const outsidersMet = 10 * time.Second

// meetOutsiders tells a member that sees no other one that its host sees others, once it is not away.
func (c *Cluster) meetOutsiders(who, life int32) {
	m := &c.members[who]
	switch {
	case !m.up || m.life != life || len(*m.seen.peers) > 1:
		return
	case c.Away(int(who)):
		c.At(m.awayUntil, func() { c.meetOutsiders(who, life) })
		return
	}
	c.event.Kind, c.event.Peers, c.event.TokenKnown = policy.PeersChanged, *m.seen.peers, m.seen.known
	c.event.Company = true
	c.step(who, &c.event, about{})
	c.event.Company = false
}

// same reports whether two rolls are equal; mostly they are the same one. The roll of a member that has just started is
// nil.
func same(a, b *roll) bool { return a == b || a != nil && b != nil && slices.Equal(*a, *b) }

package sim

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/downcount"
	"github.com/wanderd/wanderd/policy/stages"
	"github.com/wanderd/wanderd/wire"
)

// shell is what the shell of one member knows of the others, in a gate with a [Shape].
type shell struct {
	watch stages.Watch
	// said is what it has announced in this life.
	said  stages.Standing
	other []known
	// failed is how many of the others have failed. open is true if no earlier stage held the member up when it last
	// looked around.
	failed int
	open   bool
	// barred is true if the machine was told that no run may start; held, if that or an earlier stage holds its own
	// operation up.
	barred, held bool
	// number counts the appointments to look around. at is when the last one is; Never, if there is none.
	number int32
	at     policy.Time
}

// known is another member, as a shell knows it: whether it has been here in this life of the shell, since when it is
// away, Never if it is not, and whether it has failed.
type known struct {
	met, failed bool
	away        policy.Time
}

// shells are those of all members. names are those of the members, which begin with their stages; heard is what each
// side of the network has heard of where the members stand. others has room for what one member knows.
type shells struct {
	each   []shell
	names  []string
	heard  [MaxParts][]stages.Standing
	others []stages.Member
}

func newShells(cfg *Config) (s shells) {
	if cfg.Shape == (Shape{}) {
		return s
	}
	s.each, s.names = make([]shell, cfg.Members), make([]string, cfg.Members)
	for i := range s.names {
		s.names[i] = cfg.Shape.stageName(i)
	}
	for i := range s.heard {
		s.heard[i] = make([]stages.Standing, cfg.Members)
	}
	return s
}

// onTheDial is a moment as package stages counts time.
func onTheDial(at policy.Time) time.Time { return time.Unix(0, int64(at)) }

// beginShell begins with what a shell knows when its member starts: how the last operation of its host has ended.
func (c *Cluster) beginShell(who int32) {
	if c.shells.each == nil {
		return
	}
	k, shape := &c.shells.each[who], &c.cfg.Shape
	*k = shell{
		other: make([]known, len(c.members)), number: k.number + 1, at: policy.Never,
		watch: stages.Watch{Failed: k.watch.Failed},
	}
	for i := range k.other {
		k.other[i].away = policy.Never
	}
	settle := c.cfg.Membership.GossipAfter + c.cfg.Membership.Spread
	k.watch.Set(shape.stages(max(settle, 1)), c.shells.names[who])
	k.open = !k.watch.Waits()
}

// isHeldUp reports whether no run may start at a member: none of its own operation, or none at all.
func (c *Cluster) isHeldUp(who int32, own bool) bool {
	if c.shells.each == nil {
		return false
	}
	limit, down := downcount.Limit{Count: c.cfg.Shape.MaxDown}, c.downAsSeenBy(who)
	return limit.Bars(&down) || own && !c.shells.each[who].open
}

// downAsSeenBy counts who is down, as a member knows.
func (c *Cluster) downAsSeenBy(who int32) downcount.Down {
	m, k := &c.members[who], &c.shells.each[who]
	d := downcount.Down{Members: len(c.members), Failed: k.failed, Slots: 1}
	if several, ok := m.machine.(policy.Slotted); ok {
		d.Slots = several.Slots()
	}
	if kept := &m.disk.Kept; kept.Is() && kept.Holder != m.id {
		o := &k.other[c.views.indexOf(c.members, kept.Holder)]
		d.Kept, d.Here = !o.failed, o.met && o.away == policy.Never
	}
	return d
}

// indexOf returns the index of a member.
func (v *views) indexOf(members []member, id wire.MemberID) int32 {
	at, _ := slices.BinarySearchFunc(v.byRank, id, func(i int32, id wire.MemberID) int {
		return members[i].id.Compare(id)
	})
	return v.byRank[at]
}

// lookAround lets a shell look who is here, who is down, and where the members of earlier stages stand.
func (c *Cluster) lookAround(who int32) {
	if c.shells.each == nil {
		return
	}
	k, m, shape := &c.shells.each[who], &c.members[who], &c.cfg.Shape
	peers, others, waits := c.View(int(who)), c.shells.others[:0], k.watch.Waits()
	k.failed = 0
	for _, i := range c.views.byRank {
		o, other := &k.other[i], &c.members[i]
		here := len(peers) > 0 && peers[0] == other.id
		if here {
			peers = peers[1:]
		}
		if i == who {
			continue
		}
		switch {
		case here:
			o.met, o.away = true, policy.Never
		case o.away == policy.Never:
			o.away = c.now
		}
		left := !other.up && other.leaving
		if o.failed = !here && o.met && !left; o.failed {
			k.failed++
		}
		if waits && o.met && shape.Stage(int(i)) < shape.Stage(int(who)) {
			of := stages.Member{Name: c.shells.names[i], Standing: c.shells.heard[c.side(who)][i]}
			if !here {
				of.Away = onTheDial(o.away)
			}
			others = append(others, of)
		}
	}
	if c.shells.others = others; waits && m.up {
		k.watch.Look(others, onTheDial(c.now))
	}
	k.open = k.open && k.watch.IsOpen(onTheDial(c.now))
}

// look is an appointment to look around: of the shell's own, if it has a number, or because something was heard. If the
// member may run now, or may no longer, its machine reconsiders.
func (c *Cluster) look(who, number int32) {
	if c.shells.each == nil || !c.members[who].up {
		return
	}
	k := &c.shells.each[who]
	if number > 0 {
		if number != k.number {
			return
		}
		k.at = policy.Never
	}
	c.lookAround(who)
	k.open = k.watch.IsOpen(onTheDial(c.now))
	if k.watch.Turned(onTheDial(c.now)) {
		c.event.Kind = policy.Woke
		c.step(who, &c.event, about{due: true})
		return
	}
	c.stand(who)
}

// stand announces where a member stands, if that has changed, and arranges when its shell looks around next.
func (c *Cluster) stand(who int32) {
	if c.cfg.Shape.Canaries == 0 || c.members[who].leaving {
		return
	}
	k, now := &c.shells.each[who], c.Instant(int(who)).Time
	own := c.ownStanding(who)
	if said, news := k.watch.See(&own, onTheDial(c.now)); news {
		k.said = said
		c.sayStanding(who)
	}
	k.open = k.open && k.watch.IsOpen(onTheDial(c.now))
	at := policy.Never
	if due := c.OperationDue(int(who)); due > now && due < policy.Never {
		at = c.clockOf(who).shows(due)
	}
	if look := k.watch.LookAt(onTheDial(c.now)); !look.IsZero() {
		at = min(at, policy.Time(look.UnixNano()))
	}
	if at < k.at {
		k.at = at
		k.number++
		c.push(entryLook, at, who, k.number)
	}
}

// ownStanding is what decides where a member stands.
func (c *Cluster) ownStanding(who int32) stages.Own {
	r, now := &c.members[who].run, c.Instant(int(who)).Time
	own := stages.Own{
		Due: c.OperationDue(int(who)) <= now, Ready: c.Ready(int(who)), Failed: c.shells.each[who].watch.Failed,
		Runs: r.active && c.isOwn(r),
	}
	if s := c.savings[who]; s != nil {
		own.Saves = s.busy
	}
	if c.directives.layers != nil {
		l := c.directives.layers[who]
		own.PausedHere = c.Instant(int(who)).Wall < l.Here()
	}
	if c.Asks() {
		said := c.Answered(int(who))
		own.No, own.Stale = said.At > 0 && !said.Yes, c.cfg.Ready.Again+c.cfg.Ready.Timeout
	}
	return own
}

// sayStanding lets gossip bring to the others where a member stands, if it lives long enough.
func (c *Cluster) sayStanding(who int32) {
	life := c.members[who].life
	c.After(c.cfg.Membership.GossipAfter, func() {
		if m := &c.members[who]; m.up && m.life == life {
			c.hearStanding(c.side(who), who)
		}
	})
}

// hearStanding lets a side of the network hear where a member stands.
func (c *Cluster) hearStanding(side int, who int32) {
	if c.shells.each == nil || c.shells.heard[side][who] == c.shells.each[who].said {
		return
	}
	c.shells.heard[side][who] = c.shells.each[who].said
	for i := range c.members {
		if other := int32(i); other != who && c.members[i].up && c.side(other) == side {
			late := time.Duration(0)
			if within := c.cfg.Membership.Spread; within > 0 {
				late = time.Duration(c.memberDice.Uint64N(uint64(within)))
			}
			c.push(entryLook, c.now.Add(late), other, 0)
		}
	}
}

// endsStage takes in how an operation ends. A failure in a stage that others wait for pauses the gate, as a shell does
// before its machine knows.
func (c *Cluster) endsStage(who int32) {
	r := &c.members[who].run
	if c.cfg.Shape.Canaries == 0 || r.denied {
		return
	}
	k, failed, own := &c.shells.each[who], r.outcome == policy.Failed, c.isOwn(r)
	if own {
		k.watch.Failed = failed && !c.members[who].leaving // What a stop has cut short comes again.
	}
	paused := c.directives.layers[who].Newest().Until == wire.ForEver
	if failed && r.exit > 0 && (own || r.soaks) && k.watch.IsEarly() && !paused {
		c.Give(int(who), time.Duration(policy.Never), false)
	}
}

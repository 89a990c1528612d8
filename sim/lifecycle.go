package sim

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/directive"
)

// Boot starts all members at once with a complete membership.
func (c *Cluster) Boot() { c.boot(func() {}) }

// BootWithToken is Boot with the first token in place, as in the paper: member i makes it at once, and the others know
// of it. The machine of member i must make a token when it is alone.
func (c *Cluster) BootWithToken(i int) {
	who := int32(i)
	c.boot(func() {
		c.showView(who, view{peers: &roll{c.members[who].id}})
		c.views.announced[who] = true
		c.views.believe(who, true)
	})
}

// boot starts all members, calls before, and then gives them their views.
func (c *Cluster) boot(before func()) {
	for i := range c.members {
		c.launch(int32(i))
		c.views.believe(int32(i), false)
	}
	before()
	for i := range c.members {
		c.giveView(int32(i))
	}
}

// Start starts member i, which must not be up. At first it sees only itself, like an agent that has not found the
// others. It does not start while what is wrong outside of a core stays.
func (c *Cluster) Start(i int) {
	if c.outside[i] {
		return
	}
	who := int32(i)
	c.launch(who)
	c.showView(who, view{peers: &roll{c.members[who].id}})
	c.push(entryRecheck, c.now.Add(c.cfg.Membership.GossipAfter), who, 0)
	c.push(entryView, c.now.Add(c.cfg.Membership.GossipAfter), who, 0)
}

func (c *Cluster) launch(who int32) {
	m := &c.members[who]
	m.up, m.leaving = true, false
	m.life++
	m.crashBefore = 0
	m.seen = view{}
	forgets := m.forgets
	if m.forgets = false; forgets {
		m.disk, m.hasSeenOthers = policy.State{}, false
	}
	c.views.announced[who] = false
	m.machine = c.cfg.Machine(Env{Index: int(who), Env: policy.Env{
		Gate: theGate(), Self: m.id, Rejoins: m.hasSeenOthers,
		OnDemand: c.cfg.Demand.Every > 0 && !c.cfg.Demand.Beside, Entropy: c.machineDice, Marks: c.marks.Marker(),
	}})
	if c.directives.layers != nil {
		c.directives.layers[who] = directive.New(m.machine, m.id, c.cfg.Operators.StopAfter)
		c.directives.layers[who].Once(c.cfg.Operators.Once)
	}
	c.beginAsking(who)
	c.beginShell(who)
	c.statusOf = absent
	c.tell(Occurrence{Kind: Came, Member: int(who), Forgot: forgets})
	c.event.Kind, c.event.State = policy.Started, m.disk
	c.step(who, &c.event, about{})
	c.await(who)
	c.resumeRun(who)
	if c.cfg.Outsiders {
		life := m.life
		c.After(outsidersMet, func() { c.meetOutsiders(who, life) })
	}
}

// Crash kills member i's process. Its run ends a moment later. Its disk stays.
func (c *Cluster) Crash(i int) {
	if c.members[i].up {
		outlived := c.orphan(int32(i))
		c.end(int32(i), Occurrence{Kind: Crashed, Outlived: outlived}, c.detectAfter())
	}
}

// PowerCut ends member i's process and everything else on its host. Its disk stays.
func (c *Cluster) PowerCut(i int) {
	if c.members[i].up {
		c.end(int32(i), Occurrence{Kind: Crashed}, c.detectAfter())
	}
}

// Forget lets member i, which must not be up, start without anything that it had saved. Its key is elsewhere: it keeps
// its identity.
func (c *Cluster) Forget(i int) { c.members[i].forgets = true }

// CrashBefore kills member i's process just before it carries out the n-th effect from now, n ≥ 1.
func (c *Cluster) CrashBefore(i, n int) { c.members[i].crashBefore = int32(n) }

// end ends a process. The membership notices this after the time noticed, unless the process has started again by then.
func (c *Cluster) end(who int32, how Occurrence, noticed time.Duration) {
	m := &c.members[who]
	m.up, m.leaving = false, how.Kind == Departed
	m.run.active = false
	c.hands -= int(m.hands)
	m.hands = 0
	delete(c.preSigned, who)
	c.callersGo(who)
	m.awayUntil, m.asleep = 0, false
	delete(c.backlogs, who)
	c.alarms.clear(who)
	c.loseSaves(who, how.Kind == Departed)
	noticedAt := c.now.Add(noticed)
	if c.cfg.Membership.Perfect {
		noticedAt = max(noticedAt, c.net.lastFrom[who])
	}
	c.push(entryRecheck, noticedAt, who, m.life)
	how.Member = int(who)
	c.tell(how)
}

// Leave makes member i stop gracefully.
func (c *Cluster) Leave(i int) {
	m := &c.members[i]
	if !m.up || c.Away(i) {
		return
	}
	m.leaving = true
	if life := m.life; c.cfg.StopTimeout > 0 {
		c.After(c.cfg.StopTimeout, func() {
			if c.members[i].life == life {
				c.Crash(i)
			}
		})
	}
	c.event.Kind = policy.Leave
	c.step(int32(i), &c.event, about{})
}

// Tune gives member i other settings, as a reload does, if it is up. One that is away gets them when it is back.
func (c *Cluster) Tune(i int, p policy.Protocol) {
	m := &c.members[i]
	switch {
	case !m.up:
		return
	case c.Away(i):
		c.At(m.awayUntil, func() { c.Tune(i, p) })
		return
	}
	c.statusOf = absent
	if t, ok := c.stepping(int32(i)).(policy.Tunable); ok && t.Tune(p) {
		c.event.Kind = policy.Woke
		c.step(int32(i), &c.event, about{due: true})
	}
}

// Renew lets an operator ask member i for a new token of a slot, if the member is up.
func (c *Cluster) Renew(i int, slot uint8) {
	if c.members[i].up && !c.Away(i) {
		c.event.Kind, c.event.Slot = policy.Renew, slot
		c.step(int32(i), &c.event, about{})
	}
}

// Pause stops member i for d, like SIGSTOP: its host keeps messages that arrive, its hook goes on, and the member is
// not told afterwards.
func (c *Cluster) Pause(i int, d time.Duration) { c.goAway(i, d, false) }

// Sleep suspends member i's host for d: messages that arrive are lost. Afterwards the machine is told before anything
// else.
func (c *Cluster) Sleep(i int, d time.Duration) { c.goAway(i, d, true) }

func (c *Cluster) goAway(i int, d time.Duration, asleep bool) {
	m := &c.members[i]
	if !m.up || c.Away(i) || d <= 0 {
		return
	}
	m.awayUntil, m.asleep = c.now.Add(d), asleep
	how := Paused
	if asleep {
		how = Slept
	}
	c.tell(Occurrence{Kind: how, Member: i})
	c.push(entryRecheck, c.now.Add(c.detectAfter()), int32(i), 0)
	life := m.life
	c.At(m.awayUntil, func() {
		if m := &c.members[i]; m.up && m.life == life {
			c.comeBack(int32(i), d)
		}
	})
}

// comeBack is the first thing that happens to a member that was away for d.
func (c *Cluster) comeBack(who int32, d time.Duration) {
	delete(c.backlogs, who)
	c.push(entryRecheck, c.now.Add(c.cfg.Membership.GossipAfter), who, 0)
	c.push(entryView, c.now.Add(c.cfg.Membership.GossipAfter), who, 0)
	if c.members[who].asleep {
		c.members[who].asleep = false
		c.event.Kind, c.event.Slept = policy.Suspended, d
		c.step(who, &c.event, about{})
	}
}

// backlog is how many datagrams wait in the socket's buffer of a member that is paused, at most; the others are lost.
// Linux grants 425,984 bytes by default, and counts 1,280 for each of theirs: that is 332.
const backlog = 256

// postponed delays an event of a member that is away, and reports whether it did. A host that sleeps loses its
// messages.
func (c *Cluster) postponed(e entry) bool {
	switch e.kind {
	case entryCall, entryRecheck, entrySideView:
		return false
	case entryDeliver, entryFinished, entryWanted, entryUnwanted, entrySaved, entryView, entryDirective, entryAsk,
		entryAnswer, entryLook:
	}
	m := &c.members[e.who]
	if m.awayUntil <= c.now {
		return false
	}
	if e.kind == entryDeliver {
		if m.asleep || c.backlogs[e.who] == backlog {
			c.lose(e.slot)
			return true
		}
		c.backlogs[e.who]++
	}
	c.push(e.kind, m.awayUntil, e.who, e.slot)
	return true
}

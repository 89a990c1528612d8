package sim

import (
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// Hook describes the protected operation, as the agent runs it.
type Hook struct {
	// Takes is the duration of a run. It varies evenly, by the share Spread of itself, up and down.
	Takes  time.Duration
	Spread float64
	// Unequal is by what share more the operations of the slowest member take. Each member's operations are always
	// equally slow.
	Unequal float64
	// Fails is the share of runs that end at once. Hangs is the share that never end by themselves.
	Fails, Hangs float64
	// NotNow is the share of runs that end at once and report that the work cannot be done now.
	NotNow float64
	// Deaf is the share of runs that ignore SIGTERM and are killed after KillAfter.
	Deaf      float64
	KillAfter time.Duration
	// Late is the share of runs that are denied because their process would start too late.
	Late float64
	// Timeout is when the agent stops a run. Zero means never, for hooks that never hang.
	Timeout time.Duration
	Reboots Reboots
	// Soak is how long the grant stays with the host after an operation that has succeeded. Unhealthy is the share of
	// hosts that are found not to be healthy then: such a run has failed.
	Soak      time.Duration
	Unhealthy float64
}

// termTime is how long a run that obeys SIGTERM takes to end.
const termTime = 10 * time.Millisecond

// run is the hook process of one member.
type run struct {
	endAt policy.Time
	// until is when its guard has killed it at the latest, whatever its agent does. Zero means never.
	until  policy.Time
	number int32
	active bool
	deaf   bool
	// timedOut is true if the agent stops it at its timeout. denied is true if it does not start. demanded is the
	// Demanded of its [policy.Run].
	timedOut, denied, demanded bool
	// resumed is true if it goes on from an earlier life of its member.
	resumed bool
	// stopped is true once it was told to stop. soaks is true once the operation is over, and its host soaks; cut, if a
	// stop has ended that.
	stopped, soaks, cut bool
	outcome             policy.Outcome
	// exit is its exit status if it fails. It is zero if the agent has stopped it.
	exit uint8
}

// draw draws the outcome of the next run, and its duration if nothing stops it before its timeout. slow is how slow the
// member is, from 0 to 1.
func (h *Hook) draw(dice *rand.Rand, deaf bool, slow float64) (takes time.Duration, outcome policy.Outcome) {
	takes = h.Takes + time.Duration(slow*h.Unequal*float64(h.Takes))
	if h.Spread > 0 {
		takes += time.Duration(h.Spread * (2*dice.Float64() - 1) * float64(takes))
	}
	switch {
	case happens(dice, h.Fails):
		takes, outcome = termTime, policy.Failed
	case happens(dice, h.Hangs):
		takes = h.Timeout + h.stopTime(deaf)
	case happens(dice, h.NotNow):
		takes, outcome = termTime, policy.NotNow
	}
	if h.Timeout > 0 && takes > h.Timeout {
		takes, outcome = min(takes, h.Timeout+h.stopTime(deaf)), policy.Failed
	}
	return max(takes, 1), outcome
}

// Longest is the longest duration of an operation, and of what follows it.
func (h *Hook) Longest() time.Duration {
	takes := time.Duration(float64(h.Takes) * (1 + h.Unequal) * (1 + h.Spread))
	if h.Timeout > 0 {
		takes = min(takes, h.Timeout) + h.stopTime(h.Deaf > 0)
	}
	return takes + h.Soak
}

func (h *Hook) stopTime(deaf bool) time.Duration {
	if deaf {
		return h.KillAfter
	}
	return termTime
}

// slow returns how slow a member is, from 0 to 1.
func (c *Cluster) slow(who int32) float64 {
	return float64(Mix(c.cfg.Seed^Mix(uint64(who)+1<<48))>>11) / (1 << 53)
}

// startRun starts the hook of a member, or denies it.
func (c *Cluster) startRun(who int32, demanded bool, startBy, until policy.Time) {
	r := &c.members[who].run
	*r = run{number: r.number + 1, active: true, demanded: demanded}
	delete(c.preSigned, who)
	r.deaf = happens(c.hookDice, c.cfg.Hook.Deaf)
	takes, outcome := c.cfg.Hook.draw(c.hookDice, r.deaf, c.slow(who))
	r.endAt, r.timedOut, r.outcome = c.now.Add(takes), c.cfg.Hook.Timeout > 0 && takes > c.cfg.Hook.Timeout, outcome
	r.exit = failedExit
	if r.denied = happens(c.hookDice, c.cfg.Hook.Late); r.denied {
		r.endAt = startBy.Add(1)
	}
	if c.lookAround(who); c.isHeldUp(who, c.isOwn(r)) {
		r.denied, r.endAt = true, c.now
	}
	c.push(entryFinished, r.endAt, who, r.number)
	c.extendRun(who, until)
	c.callersBegin(who, c.serves(r))
}

// extendRun moves the end of a grant.
func (c *Cluster) extendRun(who int32, until policy.Time) {
	r := &c.members[who].run
	if r.until != 0 && c.now >= r.until {
		return // The guard has killed it already.
	}
	if r.until = until; r.active && until != 0 && until < r.endAt {
		c.push(entryFinished, until, who, r.number)
	}
}

// end returns when a run has ended, by itself or by its guard.
func (r *run) end() policy.Time {
	if r.until != 0 && !r.denied {
		return min(r.endAt, r.until)
	}
	return r.endAt
}

// stopRun tells the hook of a member to end.
func (c *Cluster) stopRun(who int32) {
	r := &c.members[who].run
	if r.active && r.soaks {
		r.cut, r.endAt, r.outcome = true, c.now, policy.Succeeded // Whether it is healthy was not said.
		c.push(entryFinished, c.now, who, r.number)
		return
	}
	r.stopped = true
	if end := c.now.Add(c.cfg.Hook.stopTime(r.deaf)); r.active && !r.denied && end < r.endAt {
		r.endAt, r.outcome, r.exit = end, policy.Failed, 0
		c.push(entryFinished, end, who, r.number)
	}
}

// Prolong makes the run of member i, if there is one, take d longer, whatever the timeout of its hook is.
func (c *Cluster) Prolong(i int, d time.Duration) {
	if r := &c.members[i].run; r.active {
		r.endAt = r.endAt.Add(d)
		c.push(entryFinished, r.endAt, int32(i), r.number)
	}
}

// EndRunAt makes the run of member i, if there is one, end at that moment, whatever the timeout of its hook is: what
// it waits for is outside of the cluster.
func (c *Cluster) EndRunAt(i int, at policy.Time) {
	if r := &c.members[i].run; r.active {
		r.endAt = at
		c.push(entryFinished, at, int32(i), r.number)
	}
}

// StopRun stops the run of member i, if there is one, like an agent that has lost another grant for it.
func (c *Cluster) StopRun(i int) { c.stopRun(int32(i)) }

// Deny ends the run of member i, if there is one, as one that was not started.
func (c *Cluster) Deny(i int) {
	if r := &c.members[i].run; r.active {
		r.denied, r.endAt = true, c.now
		c.push(entryFinished, r.endAt, int32(i), r.number)
	}
}

// finishRun tells the machine that its run is over, unless the machine knows that or is gone.
func (c *Cluster) finishRun(who, number int32) {
	m := &c.members[who]
	if !m.up || !m.run.active || m.run.number != number || c.now < m.run.end() {
		return
	}
	if c.reboots(who) || c.soaks(who) {
		return
	}
	expired := m.run.end() < m.run.endAt
	if expired && !m.run.soaks {
		m.run.outcome = policy.Failed
	}
	c.endsStage(who)
	if !m.up {
		return // It has crashed while it paused the gate.
	}
	m.run.active = false
	if c.questions.each != nil && !m.run.denied && !m.run.demanded {
		c.questions.each[who].Used()
	}
	delete(c.preSigned, who)
	c.event.Kind, c.event.Void, c.event.Denied, c.event.Outcome = policy.Finished, m.run.timedOut ||
		expired || m.run.cut, m.run.denied, m.run.outcome
	c.event.Exit, c.event.SoakGoesOn = m.run.exit, m.run.cut
	demanded, served, denied := m.run.demanded, c.serves(&m.run) && !m.run.soaks, m.run.denied
	c.step(who, &c.event, about{demanded: demanded})
	if served {
		c.callersEnd(who, denied)
	}
}

// soaks lets the host of a member soak once its operation has succeeded, and reports whether it does. For the machine
// the operation still runs. Nothing of it is left that a guard could end, and a caller does not wait for the rest.
func (c *Cluster) soaks(who int32) bool {
	r := &c.members[who].run
	over := r.end() < r.endAt // Its grant is.
	if c.cfg.Hook.Soak == 0 || r.soaks || r.denied || r.resumed || r.timedOut || r.stopped || over ||
		r.outcome != policy.Succeeded {
		return false
	}
	r.soaks, r.endAt = true, c.now.Add(c.cfg.Hook.Soak)
	if happens(c.hookDice, c.cfg.Hook.Unhealthy) {
		r.outcome = policy.Failed
	}
	delete(c.preSigned, who)
	c.push(entryFinished, r.end(), who, r.number)
	if r.end() < r.endAt { // The grant may be renewed until then.
		c.push(entryFinished, r.endAt, who, r.number)
	}
	if c.serves(r) {
		c.callersEnd(who, false)
	}
	c.event.Kind, c.event.Soak = policy.Soaks, c.cfg.Hook.Soak
	c.step(who, &c.event, about{})
	return true
}

// Soaks reports whether the host of member i soaks after an operation that has succeeded.
func (c *Cluster) Soaks(i int) bool {
	r := &c.members[i].run
	return r.active && r.soaks && c.now < r.end()
}

// happens draws whether something of probability p happens. It draws nothing if p is 0 or 1.
func happens(dice *rand.Rand, p float64) bool { return p > 0 && falls(dice, p) }

// falls is a function of its own so that the usual case, a fault that the world does not have, costs no call.
func falls(dice *rand.Rand, p float64) bool { return p >= 1 || dice.Float64() < p }

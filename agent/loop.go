package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// idleWake is the longest sleep of the loop. It bounds the delay after which a suspension of the host is noticed.
const idleWake = 10 * time.Second

// loop runs the gates until they have left.
func (a *Agent) loop(ctx context.Context, reading <-chan error) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for _, g := range a.gates {
		g.begin()
	}
	a.notifier.ready(a.statusLine())
	views, done := a.members.Views(), ctx.Done()
	copied := a.members.Copied()
	var giveUp <-chan time.Time
	var reason error
	for {
		if a.leaving && a.hasLeft() {
			return reason
		}
		if a.leaving && giveUp == nil && !a.draining() {
			giveUp = time.After(a.cfg.StopTimeout)
		}
		a.closeRemoved()
		timer.Reset(a.untilNextWake())
		select {
		case in := <-a.inbound:
			a.noticeSleep()
			a.onInbound(&in)
		case then := <-a.ended:
			a.noticeSleep()
			then()
		case view := <-views:
			a.noticeSleep()
			a.onView(view)
		case <-a.members.News():
			a.noticeSleep()
			a.onNews()
		case original := <-copied:
			// It first passes on a token that it holds, because the original does not have it.
			done, copied = nil, nil
			reason = &CopyError{Path: a.state.Path(), Original: original}
			a.log.Error().Err(reason).Msg("this agent stops")
			a.noticeSleep()
			a.leave()
		case query := <-a.queries:
			query()
		case <-timer.C:
			a.noticeSleep()
			a.wake()
		case <-done:
			done, copied = nil, nil
			a.noticeSleep()
			if a.cfg.Drain {
				a.drain()
			} else {
				a.leave()
			}
		case <-giveUp:
			return errors.Join(reason, a.abandon())
		case err := <-reading:
			return fmt.Errorf("reading from %s: %w", a.endpoint.Addr, err)
		}
	}
}

// step passes g.event to the gate's machine and carries out the effects.
func (g *gate) step() {
	defer g.contain()
	now := g.env.clock.Now()
	g.tellReady(now.Time)
	g.effects = g.machine.Step(now, &g.event, g.effects[:0])
	for i := range g.effects {
		g.perform(now, &g.effects[i])
	}
	if g.entrusted.changed {
		g.handOver()
	}
	g.beginSave()
	g.considerAsking()
	g.tellDemand()
}

// wake steps every gate that is due, and feeds the watchdog: so a loop that hangs does not feed it.
func (a *Agent) wake() {
	now := a.clock.Now().Time
	for _, g := range a.gates {
		g.wakeGate(now)
		g.correctRecord()
	}
	if a.draining() {
		a.notifier.stopping(drainStep + a.cfg.StopTimeout + goodbye)
	}
	a.notifier.alive(a.statusLine)
}

func (g *gate) wakeGate(now policy.Time) {
	defer g.contain()
	if at, ok := g.machine.NextWake(); ok && at <= now {
		g.event.Kind = policy.Woke
		g.step()
	}
	g.considerAsking()
	if g.roster != nil && g.roster.err != nil {
		g.gather()
	}
}

func (a *Agent) untilNextWake() time.Duration {
	now := a.clock.Now().Time
	wait := min(idleWake, a.notifier.untilNext())
	for _, g := range a.gates {
		if at := g.nextWake(now); at < policy.Never {
			wait = min(wait, at.Sub(now))
		}
	}
	return max(wait, 0)
}

// nextWake is when a gate has something to do.
func (g *gate) nextWake(now policy.Time) (at policy.Time) {
	defer g.contain()
	at = g.askAt(now)
	if wake, ok := g.machine.NextWake(); ok {
		at = min(at, wake)
	}
	return at
}

// noticeSleep runs before every event of the loop: if the host was suspended, the gates give up their tokens first.
func (a *Agent) noticeSleep() {
	gap := a.clock.WokeUp()
	if gap == 0 {
		return
	}
	a.log.Warn().Dur("slept", gap).Msg("the host was suspended")
	for _, g := range a.gates {
		g.slept(gap)
	}
}

// slept tells a gate for how long the host was suspended.
func (g *gate) slept(gap time.Duration) {
	g.event.Kind, g.event.Slept = policy.Suspended, gap
	g.step()
}

func (a *Agent) onView(view *membership.View) {
	a.view = view
	signal(a.memory.changed)
	a.senders.keep(view)
	for _, g := range a.gates {
		if view.Follows(g.id) { // else it is older than the gate
			g.meet()
		}
	}
}

// meet tells a gate who its members are.
func (g *gate) meet() {
	g.event.Kind = policy.PeersChanged
	g.event.Peers, g.event.TokenKnown = g.env.fleet.Peers(g.id)
	if n := len(g.event.Peers); n != g.members {
		g.members = n
		level := zerolog.DebugLevel // flapping: the membership summarises it
		if now := time.Now(); now.Sub(g.peersSaid) >= peersEvery {
			g.peersSaid, level = now, zerolog.InfoLevel
		}
		g.log.WithLevel(level).Int("members", n).Msg("peers changed")
	}
	g.entrusted.changed = true // a guardian may have another address
	g.step()
	g.gather()
}

// hasLeft reports whether nothing of any gate is left.
func (a *Agent) hasLeft() bool {
	return !slices.ContainsFunc(a.gates, func(g *gate) bool { return !g.hasLeft() })
}

// hasLeft reports whether nothing is left of a gate: nothing in its machine, no save, no process of a question.
func (g *gate) hasLeft() bool { return g.gone && !g.saver.busy() && g.asking.run == nil }

// killGranted ends what still runs under a grant with an end. Its guard has been told to stop it long ago, and may not be able to (SIGSTOP): then nobody would
// end it any more when this agent is gone.
func (a *Agent) killGranted() {
	for _, g := range a.gates {
		g.endGrant()
	}
	for timeout := time.After(time.Second); slices.ContainsFunc(a.gates, (*gate).isGranted); {
		select {
		case then := <-a.ended:
			then()
		case <-timeout:
			return
		}
	}
}

// isGranted reports whether something runs under a grant with an end.
func (g *gate) isGranted() bool { return g.run != nil && g.roster != nil }

// endGrant ends the grant now, if it has an end.
func (g *gate) endGrant() {
	if g.isGranted() {
		now := g.env.clock.SinceBoot(g.env.clock.Now().Time)
		g.run.tell(func(run HookRun) { run.Extend(now) })
	}
}

// abandon ends a stop that has taken too long. Hooks that still run are killed with the agent.
func (a *Agent) abandon() error {
	a.killGranted()
	for _, g := range a.gates {
		g.sayAbandoned()
	}
	return fmt.Errorf("could not leave cleanly within %s", a.cfg.StopTimeout)
}

// sayAbandoned logs what is left of a gate when a stop has taken too long.
func (g *gate) sayAbandoned() {
	switch {
	case g.gone && g.saver.busy():
		g.log.Warn().Msg("the state of the gate could not be saved in time: the disk hangs")
	case g.gone:
	case g.run != nil:
		g.log.Error().Msg("the hook did not end in time")
	default:
		g.sayNobodyTook()
	}
}

func (g *gate) sayNobodyTook() {
	g.log.Warn().Msg("no member took the token in time; the fleet will revive it or make a new one")
}

// send signs, seals and sends one message. A failure is like a lost datagram: the handoff repeats the message.
func (g *gate) send(m *wire.Message) {
	to, ok := g.env.fleet.Lookup(g.id, m.To)
	if !ok {
		g.log.Debug().Str("peer", m.To.Short()).Msg("not sent: the member is gone")
		return
	}
	if err := g.env.fleet.Send(m, to.Addr); err != nil {
		g.sendErrors++
		if now := time.Now(); now.Sub(g.sendErrorSaid) >= sayAgain {
			g.sendErrorSaid = now
			g.log.Warn().Err(err).Str("peer", to.Name).Stringer("address", to.Addr).Uint64("count", g.sendErrors).
				Msg("cannot send; the handoff will try again or choose another member")
		}
	}
}

// peersEvery is the least time between two lines about a gate's peers.
const peersEvery = 5 * time.Second

// sayAgain is the least time between two warnings of one kind.
const sayAgain = time.Minute

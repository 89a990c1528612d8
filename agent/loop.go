package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/agent/beside"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/policy"
)

// idleWake is the longest sleep of the loop. It bounds the delay after which a suspension of the host is noticed.
const idleWake = 10 * time.Second

// loop runs the gates until they have left.
func (a *Agent) loop(ctx context.Context, reading <-chan error) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for _, g := range a.gates {
		g.Begin()
	}
	byName{a}.declare()
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
		case in := <-a.intake.inbound:
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
			// A copy first passes on a token that it holds, because the original does not have it.
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

// wake steps every gate that is due, and feeds the watchdog, so that a loop that hangs does not feed it.
func (a *Agent) wake() {
	now := a.clock.Now().Time
	for _, g := range a.gates {
		g.Wake(now)
		g.CorrectRecord()
	}
	if a.draining() {
		a.notifier.stopping(drainStep + a.cfg.StopTimeout + goodbye)
	}
	byName{a}.forgetUnused()
	a.company.tell(a.gates)
	a.notifier.alive(a.statusLine)
}

func (a *Agent) untilNextWake() time.Duration {
	now := a.clock.Now().Time
	wait := min(idleWake, a.notifier.untilNext(), a.company.untilTold())
	for _, g := range a.gates {
		if at := g.NextWake(now); at < policy.Never {
			wait = min(wait, at.Sub(now))
		}
	}
	return max(wait, 0)
}

// noticeSleep runs before every event of the loop. If the host was suspended, the gates give up their tokens before
// anything else.
func (a *Agent) noticeSleep() {
	gap := a.clock.WokeUp()
	if gap == 0 {
		return
	}
	a.log.Warn().Dur("slept", gap).Msg("the host was suspended")
	for _, g := range a.gates {
		g.Slept(gap)
	}
}

func (a *Agent) onView(view *membership.View) {
	a.view = view
	a.company.see(view)
	beside.Signal(a.memory.changed)
	a.intake.senders.keep(view)
	byName{a}.see()
	for _, g := range a.gates {
		if view.Follows(g.ID()) { // otherwise the view is older than the gate
			g.Meet()
		}
	}
}

// hasLeft reports whether nothing of any gate is left.
func (a *Agent) hasLeft() bool {
	return !slices.ContainsFunc(a.gates, func(g *gate.Gate) bool { return !g.HasLeft() })
}

// killGranted kills what still runs under a grant with an end. Its guard was told to stop it long ago, but the guard
// may have been stopped (SIGSTOP). Once this agent is gone, nobody else would end it.
func (a *Agent) killGranted() {
	for _, g := range a.gates {
		g.EndGrant()
	}
	for timeout := time.After(time.Second); slices.ContainsFunc(a.gates, (*gate.Gate).IsGranted); {
		select {
		case then := <-a.ended:
			then()
		case <-timeout:
			return
		}
	}
}

// abandon ends a stop that has taken too long. Hooks that still run are killed with the agent.
func (a *Agent) abandon() error {
	a.killGranted()
	for _, g := range a.gates {
		g.SayAbandoned()
	}
	return fmt.Errorf("could not leave cleanly within %s", a.cfg.StopTimeout)
}

// sayAgain is the least time between two warnings of one kind.
const sayAgain = time.Minute

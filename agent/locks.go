package agent

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/wanderd/wanderd/agent/fleetlock"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
)

// locks lets the clients of this host take and give back a gate's grant. It implements [fleetlock.Host].
type locks struct {
	a    *Agent
	gate string
}

var _ fleetlock.Host = locks{}

// PreReboot implements [fleetlock.Host].
func (l locks) PreReboot(ctx context.Context, client string) error {
	var lock *gate.Lock
	if err := do(ctx, l.a, func() error {
		g, err := l.a.gateFor(l.gate)
		if err == nil {
			lock, err = gate.AskLock(g, client)
		}
		return err
	}); err != nil {
		return err
	}
	select {
	case <-lock.Granted:
	case r := <-lock.Ended:
		return cmp.Or(r.Err, errors.New("its grant was given back at this moment: ask again"))
	case <-ctx.Done():
	}
	if ctx.Err() == nil {
		return nil
	}
	select {
	case l.a.queries <- lock.GiveUp:
	case <-time.After(giveUpWithin): // The agent has stopped.
	}
	return ctx.Err()
}

// giveUpWithin bounds the wait for the loop after a client has gone.
const giveUpWithin = 10 * time.Second

// SteadyState implements [fleetlock.Host].
func (l locks) SteadyState(ctx context.Context, client string) error {
	var ended <-chan hook.Result
	if err := do(ctx, l.a, func() error {
		g, err := l.a.gateFor(l.gate)
		if err == nil {
			ended = gate.Unlock(g, client)
		}
		return err
	}); err != nil || ended == nil {
		return err
	}
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return errors.New("this host goes down, and its grant is kept until it is back")
	}
}

// serveLocks begins to serve the clients of all gates that have an address for them.
func (a *Agent) serveLocks() error {
	for i := range a.cfg.Gates {
		c := &a.cfg.Gates[i]
		if c.FleetLock == "" {
			continue
		}
		s, err := fleetlock.Serve(c.FleetLock, cmp.Or(c.FleetLockGroup, c.Name), locks{a, c.Name}, a.log)
		if err != nil {
			return err
		}
		a.lockServers = append(a.lockServers, s)
	}
	return nil
}

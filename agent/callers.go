package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
)

// "A demand is one bit to the machine; local callers queue at the agent." A gate without a hook is a gate on demand: it runs the commands
// of its callers, first come, first served, one for each grant.

// callers are those who wait for a run of a gate. Only the loop uses them.
type callers struct {
	queue []*caller
	// served is the one whose command runs.
	served *caller
	// told says that the machine knows that somebody waits.
	told bool
}

// caller is somebody who waits for a run, and then for its end.
type caller struct {
	argv  []string
	ended chan hook.Result
	// withdrawn says that it waits no longer, although its command has been granted a run.
	withdrawn bool
}

var errLeaving = errors.New("the agent is stopping")

// Exec runs a command as the operation of a gate on demand: when all who have asked here before have had their turn, and this host is
// granted the gate. It returns when nothing is left of the command. When ctx is done the caller waits no longer, or its command is
// stopped.
func (a *Agent) Exec(ctx context.Context, gate string, argv []string) (hook.Result, error) {
	c := &caller{argv: argv, ended: make(chan hook.Result, 1)}
	refused, err := ask(ctx, a, func() error { return a.queue(gate, c) })
	if err = errors.Join(err, refused); err != nil {
		return hook.Result{}, err
	}
	select {
	case r := <-c.ended:
		return r, nil
	case <-ctx.Done():
	}
	select {
	case a.queries <- func() { a.withdraw(gate, c) }:
		return <-c.ended, nil
	case r := <-c.ended:
		return r, nil
	}
}

// queue lets a caller wait.
func (a *Agent) queue(gate string, c *caller) error {
	g := a.gateOf(gate)
	switch {
	case g == nil:
		return fmt.Errorf("there is no gate %q here", gate)
	case !g.cfg.onDemand():
		return fmt.Errorf("gate %q runs its hook, and takes no commands", gate)
	case a.leaving:
		return errLeaving
	}
	g.callers.queue = append(g.callers.queue, c)
	a.tellDemand(g)
	return nil
}

// withdraw ends what a caller has asked for.
func (a *Agent) withdraw(gate string, c *caller) {
	g := a.gateOf(gate)
	if g.callers.served == c {
		c.withdrawn = true
		g.run.Stop()
	}
	if i := slices.Index(g.callers.queue, c); i >= 0 {
		g.callers.queue = slices.Delete(g.callers.queue, i, i+1)
		c.refuse(context.Canceled)
		a.tellDemand(g)
	}
}

func (a *Agent) gateOf(name string) *gate {
	for _, g := range a.gates {
		if g.cfg.Name == name {
			return g
		}
	}
	return nil
}

// tellDemand tells the machine whether somebody waits, if it does not know.
func (a *Agent) tellDemand(g *gate) {
	waits := len(g.callers.queue) > 0
	if waits == g.callers.told {
		return
	}
	g.callers.told = waits
	if g.event.Kind = policy.Unwanted; waits {
		g.event.Kind = policy.Wanted
	}
	a.step(g)
}

// begin gives the grant to the first caller, and returns its command. The run has ended the demand.
func (k *callers) begin() (argv []string) {
	k.told = false
	if len(k.queue) == 0 {
		return nil
	}
	k.served, k.queue = k.queue[0], k.queue[1:]
	return k.served.argv
}

// end tells the caller whose command has run what came of it.
func (k *callers) end(r hook.Result) {
	if k.served != nil {
		k.served.ended <- r
	}
	k.served = nil
}

// again lets the caller whose run was denied wait for the next grant, before all others, unless it waits no longer.
func (k *callers) again() {
	switch c := k.served; {
	case c == nil:
	case c.withdrawn:
		c.refuse(context.Canceled)
	default:
		k.queue = slices.Insert(k.queue, 0, c)
	}
	k.served = nil
}

// leave sends everybody away who waits.
func (k *callers) leave() {
	for _, c := range k.queue {
		c.refuse(errLeaving)
	}
	k.queue = nil
}

// refuse tells a caller that its command will not run.
func (c *caller) refuse(why error) {
	c.ended <- hook.Result{Exit: -1, NotExecuted: true, Err: why}
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
)

// "wanderd run": this host is due now. It is a demand, as that of a caller with a command, for the gate's own operation; so min_interval does not hold
// it up, and it works with every protocol. A run of the hook that comes meanwhile, because it is due, serves it too.

// RunNow answers the control socket.
func (s source) RunNow(ctx context.Context, call control.RunNow) (control.RunEnd, error) {
	ended := make(chan hook.Result, 1)
	refused, err := ask(ctx, s.a, func() error { return s.a.runNow(&call, ended) })
	if err := errors.Join(err, refused); err != nil || !call.Wait {
		return control.RunEnd{}, err
	}
	select {
	case r := <-ended:
		if r.NotExecuted && r.Err != nil {
			return control.RunEnd{}, r.Err
		}
		end := control.RunEnd{Ended: true, Exit: int(r.Status()), Took: control.Duration(r.Took)}
		if r.Err != nil {
			end.Error = r.Err.Error()
		}
		return end, nil
	case <-ctx.Done():
		return control.RunEnd{}, context.Cause(ctx)
	}
}

// runNow lets the gate's own operation be wanted; if it is already, the caller waits for the same run.
func (a *Agent) runNow(call *control.RunNow, ended chan hook.Result) error {
	g, err := a.gateFor(call.Gate)
	switch {
	case err != nil:
		return err
	case a.leaving || g.removed:
		return g.refusal()
	case g.cfg.onDemand():
		return &control.Refusal{
			Reason: control.NoGate, Text: fmt.Sprintf("gate %q has no hook that could run: say what to run with \"wanderd exec\"", g.cfg.Name),
		}
	}
	if at := g.callers.ownPlace(); at >= 0 {
		c := g.callers.queue[at]
		c.waiters = append(c.waiters, ended)
		return nil
	}
	g.callers.queue = append(g.callers.queue, &caller{
		Call: control.Call{PID: call.PID, Command: "hook"}, since: time.Now(), own: true, waiters: []chan hook.Result{ended},
	})
	a.tellDemand(g)
	return nil
}

// ownPlace is the place in the queue of who waits for the gate's own operation, or -1.
func (k *callers) ownPlace() int {
	return slices.IndexFunc(k.queue, func(c *caller) bool { return c.own })
}

// beginOwn gives a grant to who waits for the gate's own operation: if it is first in the queue, or if the operation runs anyhow.
func (k *callers) beginOwn(demanded bool) *caller {
	at := k.ownPlace()
	if at < 0 || demanded && at > 0 {
		return nil
	}
	k.served = k.queue[at]
	k.queue = slices.Delete(k.queue, at, at+1)
	k.served.running = time.Now()
	return k.served
}

// tell tells a caller what came of its run.
func (c *caller) tell(r hook.Result) {
	if !c.own {
		c.ended <- r
		return
	}
	for _, w := range c.waiters {
		w <- r
	}
}

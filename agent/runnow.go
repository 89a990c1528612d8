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
// it up, and it works with every protocol. A run of the hook that comes meanwhile, because it is due, serves it too. Where the host is asked whether it is
// ready, it is asked first: an operator hears at once that the hook is not needed.

func (s source) RunNow(ctx context.Context, call control.RunNow) (control.RunEnd, error) {
	ended := make(chan hook.Result, 1)
	due := make(chan struct{}, 1)
	if err := do(ctx, s.a, func() error { return s.a.runNow(&call, due, ended) }); err != nil {
		return control.RunEnd{}, err
	}
	if call.Wait {
		due = nil
	}
	select {
	case <-due:
		return control.RunEnd{}, nil
	case r := <-ended:
		if e, unready := errors.AsType[*unreadyError](r.Err); unready {
			return control.RunEnd{Ended: true, Unready: true, Exit: int(e.exit), Error: e.text}, nil
		}
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

// runNow lets the own operation of a gate be wanted.
func (a *Agent) runNow(call *control.RunNow, due chan struct{}, ended chan hook.Result) error {
	g, err := a.gateFor(call.Gate)
	if err != nil {
		return err
	}
	return g.runNow(call.PID, due, ended)
}

// runNow lets the gate's own operation be wanted; if it is already, the caller waits for the same run. due is told when this host is ready.
func (g *gate) runNow(pid int, due chan struct{}, ended chan hook.Result) error {
	switch {
	case g.leaving:
		return g.refusal()
	case g.cfg.onDemand():
		return &control.Refusal{
			Reason: control.NoGate, Text: fmt.Sprintf("gate %q has no hook that could run: say what to run with \"wanderd exec\"", g.cfg.Name),
		}
	}
	if at := g.callers.ownPlace(); at >= 0 {
		c := g.callers.queue[at]
		c.due, c.ended = append(c.due, due), append(c.ended, ended)
	} else {
		g.callers.queue = append(g.callers.queue, &caller{
			Call: control.Call{PID: pid, Command: "hook"}, since: time.Now(), own: true, due: []chan struct{}{due}, ended: []chan hook.Result{ended},
		})
	}
	g.asking.AtOnce()
	g.considerAsking()
	g.tellDue()
	g.tellDemand()
	return nil
}

// tellDue tells those who wait for the gate's own operation that it is due.
func (g *gate) tellDue() {
	if at := g.callers.ownPlace(); at >= 0 && g.isReady(g.env.clock.Now().Time) {
		c := g.callers.queue[at]
		for _, due := range c.due {
			due <- struct{}{}
		}
		c.due = nil
	}
}

// ownPlace is the place in the queue of who waits for the gate's own operation, or -1.
func (k *callers) ownPlace() int {
	return slices.IndexFunc(k.queue, func(c *caller) bool { return c.own })
}

// beginOwn gives a grant to who waits for the gate's own operation: if it is first in the queue and this host is ready, or if the operation runs
// anyhow.
func (k *callers) beginOwn(demanded, ready bool) *caller {
	at := k.ownPlace()
	if at < 0 || demanded && (at > 0 || !ready) {
		return nil
	}
	return k.serve(at)
}

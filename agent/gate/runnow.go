package gate

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
)

// RunNow demands a run of the gate's own operation. If that is already demanded, the caller waits for the same run. due
// gets a signal when this host is ready.
func (g *Gate) RunNow(pid int, due chan struct{}, ended chan hook.Result) error {
	switch {
	case g.exit.leaving:
		return g.refusal()
	case g.cfg.OnDemand():
		return refuse(control.NoGate,
			"gate %q has no hook that could run: say what to run with \"wanderd exec\"", g.cfg.Name)
	}
	if at := g.callers.ownPlace(); at >= 0 {
		c := g.callers.queue[at]
		c.due, c.ended = append(c.due, due), append(c.ended, ended)
	} else {
		g.callers.queue = append(g.callers.queue, &Caller{
			ExecRequest: control.ExecRequest{PID: pid, Command: "hook"}, since: time.Now(), own: true,
			due: []chan struct{}{due}, ended: []chan hook.Result{ended},
		})
	}
	g.asking.AtOnce()
	g.considerAsking()
	g.tellDue()
	g.tellDemand()
	return nil
}

// tellDue tells the callers that wait for the gate's own operation that it is due.
func (g *Gate) tellDue() {
	if at := g.callers.ownPlace(); at >= 0 && g.isReady(g.env.Clock.Now().Time) {
		c := g.callers.queue[at]
		for _, due := range c.due {
			due <- struct{}{}
		}
		c.due = nil
	}
}

// ownPlace returns the place in the queue of the caller that waits for the gate's own operation, or -1.
func (k *callers) ownPlace() int {
	return slices.IndexFunc(k.queue, func(c *Caller) bool { return c.own })
}

// beginOwn gives a grant to the caller that waits for the gate's own operation, if that caller is first in the queue
// and this host is ready, or if the operation runs anyhow.
func (k *callers) beginOwn(demanded, ready bool) *Caller {
	at := k.ownPlace()
	if at < 0 || demanded && (at > 0 || !ready) {
		return nil
	}
	return k.serve(at)
}

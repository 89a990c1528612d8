package gate

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
)

// RunNow demands a run of the gate's own operation. If that is already demanded, the caller waits for the same run. due
// gets a signal when this host is ready. If outside is not empty, it is who has ordered the run whatever the windows
// say.
func (g *Gate) RunNow(pid int, outside string, due chan struct{}, ended chan hook.Result) error {
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
	if outside != "" && g.cfg.AnyTime != nil {
		g.log.Warn().Str("by", outside).Msg("a run is ordered, whatever the windows say")
		c := g.callers.take(g.callers.ownPlace())
		c.outside = outside
		g.callers.queue = slices.Insert(g.callers.queue, 0, c) // so that the grant is for nobody else
		g.event.Kind = policy.Woke
		g.step()
	}
	g.asking.AtOnce()
	g.considerAsking()
	g.tellDue()
	g.tellDemand()
	return nil
}

// outside is who has ordered a run outside of the windows; empty if nobody has.
func (k *callers) outside() string {
	switch at := k.ownPlace(); {
	case k.served != nil && k.served.outside != "":
		return k.served.outside
	case at >= 0:
		return k.queue[at].outside
	}
	return ""
}

// followWindows takes the windows from the machine while such a run is wanted and this host is ready, and while it
// goes on. Afterwards the machine has them again before it learns of the run's end. It runs before each step.
func followWindows(g *Gate, now policy.Time) {
	if g.cfg.AnyTime == nil {
		return
	}
	running := g.callers.served != nil && g.callers.served.outside != ""
	opens, p := running || g.callers.outside() != "" && g.isReady(now), g.cfg.Protocol
	if opens {
		p = g.cfg.AnyTime
	}
	if machine, ok := g.machine.Machine.(policy.Tunable); ok && opens != g.callers.opened && machine.Tune(p) {
		g.callers.opened = opens
	}
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

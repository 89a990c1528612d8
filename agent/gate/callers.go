package gate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
)

// "A demand is one bit to the machine; local callers queue at the agent." The commands of callers ("wanderd exec") run
// in the order in which they came, one for each grant. In a gate with a hook, the machine decides which grants are for
// callers.

// maxCallers is how many callers can wait for one gate on this host: each costs a file descriptor and some KiB.
const maxCallers = 500

// callers are the callers that wait for a run of a gate. Only the loop uses them.
type callers struct {
	queue []*Caller
	// served is the caller whose command runs.
	served *Caller
	// told is true while the machine knows of a caller that waits.
	told bool
	// opened is true while the machine knows no windows, because somebody has ordered a run outside of them.
	opened bool
}

// Caller is a process that waits for a run, and then for its end.
type Caller struct {
	control.ExecRequest
	since, running time.Time
	start          Starter
	// ended receive the result of its run.
	ended []chan hook.Result
	// own is true if the caller waits for the gate's own operation, instead of running a command. Then due get a signal
	// when this host is ready.
	own bool
	due []chan struct{}
	// outside is who has ordered the run whatever the windows say; empty if nobody has.
	outside string
	// withdrawn is true if the caller no longer waits, although its command has been granted a run.
	withdrawn bool
	// client is not empty if the caller has no command, but is the client of a lock: see [AskLock]. granted is closed
	// when its grant is durable. waiting is how many requests of the client wait for that, or were granted.
	client  string
	granted chan struct{}
	waiting int
}

// NewCaller returns a caller that waits with a command from now on.
func NewCaller(asks control.ExecRequest, start Starter) *Caller {
	return &Caller{
		ExecRequest: asks, since: time.Now(), start: start, ended: []chan hook.Result{make(chan hook.Result, 1)},
	}
}

// Ended receives the result of its run, once.
func (c *Caller) Ended() <-chan hook.Result { return c.ended[0] }

// Starter starts a command under a grant, but not after startBy. If it returns [hook.ErrLate], the caller has given the
// grant up.
type Starter func(spec hook.Spec, startBy time.Time) (HookRun, error)

// Enqueue lets a caller wait for its turn.
func (g *Gate) Enqueue(c *Caller) error {
	free := !c.NonBlock || IsFree(g)
	switch {
	case g.exit.leaving || g.isClosed():
		return g.refusal()
	case c.NonBlock && g.machine.Paused():
		return refuse(control.Busy, "gate %q is paused: see \"wanderd status\"", g.cfg.Name)
	case !free:
		return refuse(control.Busy, "gate %q cannot be had at once", g.cfg.Name)
	case len(g.callers.queue) >= maxCallers:
		return refuse(control.Busy, "%d callers wait for gate %q already", maxCallers, g.cfg.Name)
	}
	g.callers.queue, g.lastUse = append(g.callers.queue, c), time.Now()
	g.tellDemand()
	return nil
}

// IsFree reports whether a caller that comes now has nothing to wait for in this gate.
func IsFree(g *Gate) (free bool) {
	g.Reads(func() { free = g.isFree() })
	return free
}

// isFree reports whether the token is here, nothing runs, no other caller waits, and the window is not closed.
func (g *Gate) isFree() bool {
	now := g.env.Clock.Now().Time
	closed := policy.Find(g.machine.Facts(now, nil), policy.KeyWindowOpens) != nil
	return !closed && mayStart(g) && g.machine.Status(now).Holding && g.run == nil && len(g.callers.queue) == 0
}

// Withdraw ends what a caller has asked for.
func (g *Gate) Withdraw(c *Caller) {
	if g.callers.served == c {
		c.withdrawn = true
		g.run.withdraw()
	}
	if i := slices.Index(g.callers.queue, c); i >= 0 {
		g.callers.take(i).refuse(context.Canceled)
		g.tellDemand()
	}
}

// tellDemand tells the machine whether a caller waits, unless it knows that already. A caller that waits for the hook
// counts once this host is ready.
func (g *Gate) tellDemand() {
	waits := len(g.callers.queue) > 0
	if waits && !mayRun(g, g.env.Clock.Now().Time) {
		waits = g.callers.command() >= 0
	}
	if waits == g.callers.told {
		return
	}
	g.callers.told = waits
	if g.event.Kind = policy.Unwanted; waits {
		g.event.Kind = policy.Wanted
	}
	g.step()
}

// command returns the place in the queue of the first caller with a command, or -1.
func (k *callers) command() int {
	return slices.IndexFunc(k.queue, func(c *Caller) bool { return !c.own })
}

// waitingSince returns since when a caller with a command has been waiting; zero if none is.
func (k *callers) waitingSince() (at time.Time) {
	if i := k.command(); i >= 0 {
		at = k.queue[i].since
	}
	return at
}

// begin gives the grant to the first caller with a command. It returns nil if no caller with a command waits any more.
func (k *callers) begin() *Caller {
	if at := k.command(); at >= 0 {
		return k.serve(at)
	}
	return nil
}

// serve gives the grant to the caller at this place in the queue.
func (k *callers) serve(at int) *Caller {
	k.served = k.take(at)
	k.served.running = time.Now()
	return k.served
}

func (k *callers) take(at int) *Caller {
	c := k.queue[at]
	k.queue = slices.Delete(k.queue, at, at+1)
	return c
}

// end tells the served caller the result of its command.
func (k *callers) end(r hook.Result) {
	if k.served != nil {
		k.served.tell(r)
	}
	k.served = nil
}

// again requeues the caller whose run was denied, before all others, unless it has withdrawn.
func (k *callers) again() {
	switch c := k.served; {
	case c == nil:
	case c.withdrawn:
		c.refuse(context.Canceled)
	default:
		c.running = time.Time{}
		k.queue = slices.Insert(k.queue, 0, c)
	}
	k.served = nil
}

// list describes the callers for operators, in the order of their turns.
func (k *callers) list() (list []control.Caller) {
	turns := k.queue
	if k.served != nil {
		turns = append([]*Caller{k.served}, turns...)
	}
	for _, c := range turns {
		list = append(list, control.Caller{
			PID: c.PID, Command: c.Command, Since: c.since, Running: !c.running.IsZero(), RunningSince: c.running,
		})
	}
	return list
}

// leave sends all waiting callers away.
func (k *callers) leave(why error) {
	for _, c := range k.queue {
		c.refuse(why)
	}
	k.queue = nil
}

// SendAway ends what all callers wait for, because the agent stops, and what waits here for the end of a kept grant.
func (g *Gate) SendAway() {
	g.kept.leaveBehind()
	g.callers.leave(errLeaving())
	g.callers.end(hook.Result{Exit: -1, Err: errLeaving()})
}

func refuse(why control.Reason, format string, args ...any) error {
	return &control.Refusal{Reason: why, Text: fmt.Sprintf(format, args...)}
}

func errLeaving() error {
	return refuse(control.Leaving, "the agent on this host is stopping: ask again when it has started")
}

// refusal is the reason why a gate accepts no more callers.
func (g *Gate) refusal() error {
	switch {
	case g.isClosed():
		return refuse(control.Leaving, "gate %q is closed on this host: %s", g.cfg.Name, whyClosed)
	case !g.exit.removed:
		return errLeaving()
	}
	return refuse(control.Leaving,
		"gate %q was removed from the configuration of this host: ask on another host, or put it back", g.cfg.Name)
}

func errLate() error {
	return refuse(control.Late, "it did not start its command in time")
}

// tell tells a caller the result of its run.
func (c *Caller) tell(r hook.Result) {
	for _, to := range c.ended {
		to <- r
	}
}

// refuse tells a caller that its command will not run.
func (c *Caller) refuse(why error) { c.tell(notExecuted(why)) }

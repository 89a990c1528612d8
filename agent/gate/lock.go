package gate

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
)

// A lock is a grant without a process. Its client, which is to reboot this host, asks for it and goes on by itself;
// when the host is back, the client says that it needs the grant no longer. So the grant outlives the request, the
// agent and the host, until that word or for keep. It is granted only when the record on the disk names the client: an
// agent that starts again must know that nobody but the client may give it back.

// lock is the client of the kept grant of this host.
type lock struct {
	// client is its name, asked the time since the boot at which it was granted, steady is true once the client has
	// said that it needs it no longer. The client is empty if the grant is one of a hook or a command.
	client string
	asked  time.Duration
	steady bool
	// granting is the caller that is told of its grant when the record is on the disk.
	granting *Caller
}

// Lock is one request for a grant without a process.
type Lock struct {
	// Granted is closed when this host has the grant, and Ended gets the result if it is over, or there is none.
	Granted <-chan struct{}
	Ended   <-chan hook.Result
	gate    *Gate
	caller  *Caller
}

// AskLock asks a gate for a grant for a client of this host, or for the one that the client has already.
func AskLock(g *Gate, client string) (*Lock, error) {
	k := &g.kept
	ended := make(chan hook.Result, 1)
	c := g.callers.lock()
	switch {
	case g.exit.leaving || g.isClosed():
		return nil, g.refusal()
	case g.cfg.Keep == 0:
		return nil, refuse(control.NoGate, "gate %q has no keep: its grants end with their runs", g.cfg.Name)
	case k.back != nil && k.back.record.Client != "":
		if k.back.record.Client != client {
			return nil, errOtherClient()
		}
		return k.lockAgain(ended)
	case c == nil:
		if len(g.callers.queue) >= maxCallers {
			return nil, refuse(control.Busy, "%d callers wait for gate %q already", maxCallers, g.cfg.Name)
		}
		c = newLock(client, g.cfg.Keep)
		g.callers.queue = append(g.callers.queue, c)
		defer g.tellDemand()
	case c.client != client:
		return nil, errOtherClient()
	case g.callers.served == c && c.isGranted():
		return k.renewLock(ended)
	}
	c.ended = append(c.ended, ended)
	c.waiting++
	return &Lock{Granted: c.granted, Ended: ended, gate: g, caller: c}, nil
}

func newLock(client string, keep time.Duration) *Caller {
	return &Caller{
		ExecRequest: control.ExecRequest{Command: "fleetlock"}, since: time.Now(), client: client,
		granted: make(chan struct{}),
		start:   func(hook.Spec, time.Time) (HookRun, error) { return newAbsence(keep), nil },
	}
}

// lockAgain renews a grant from before the agent's last start: its client is about to go down (again).
func (k *kept) lockAgain(ended chan hook.Result) (*Lock, error) {
	g := k.gate
	now := g.env.Clock.Now().Time
	facts := g.machine.Facts(now, nil)
	lease, kept := policy.Find(facts, policy.KeyLeaseUntil), policy.Find(facts, policy.KeyKept)
	over := lease != nil && lease.At <= now || kept != nil && kept.Member == g.env.Self && kept.At <= now
	if !g.machine.Status(now).Holding || over {
		return nil, refuse(control.Busy,
			"this agent has just started, and the others have not confirmed its grant: ask again")
	}
	if k.lock.granting == nil {
		boot, r := g.env.Clock.Boot(), k.back.record
		k.back.over.Store(true)
		k.boot, k.down = boot.ID, false
		k.lock = lock{client: r.Client, asked: boot.Up, granting: newLock(r.Client, 0)}
		r.Boot, r.Down, r.Asked, r.Steady = boot.ID, false, boot.Up, false
		k.await(r, false, boot.Up)
		g.wantSaved(&g.state)
		g.beginSave()
	}
	return k.granted(ended), nil
}

// renewLock lets the time of a granted lock begin again: its client is about to let the host go down now.
func (k *kept) renewLock(ended chan hook.Result) (*Lock, error) {
	g := k.gate
	var over atomic.Bool // A run that has yet to start has all of its time before it.
	g.run.tell(func(run HookRun) {
		a, is := run.(*absence)
		over.Store(!is || !a.again())
	})
	if over.Load() {
		return nil, refuse(control.Busy, "the grant of this host ends at this moment: ask again")
	}
	k.lock.asked = g.env.Clock.Boot().Up
	if k.lock.granting == nil {
		k.lock.granting = newLock(k.lock.client, 0)
		g.wantSaved(&g.state)
		g.beginSave()
	}
	return k.granted(ended), nil
}

// granted returns a request that is granted when the record is on the disk.
func (k *kept) granted(ended chan hook.Result) *Lock {
	c := k.lock.granting
	c.ended = append(c.ended, ended)
	return &Lock{Granted: c.granted, Ended: ended}
}

func (c *Caller) isGranted() bool {
	select {
	case <-c.granted:
		return true
	default:
		return false
	}
}

// GiveUp ends a request whose client has gone before it was told of its grant.
func (l *Lock) GiveUp() {
	if c := l.caller; c != nil {
		c.ended = slices.DeleteFunc(c.ended, func(to chan hook.Result) bool { return to == l.Ended })
		if c.waiting--; c.waiting == 0 {
			l.gate.Withdraw(c)
		}
	}
}

// Unlock hands the grant of a gate's client back. If this host is back from a reboot, that happens when it is up;
// otherwise ended gets the result. It is nil if there is nothing to wait for.
func Unlock(g *Gate, client string) (ended <-chan hook.Result) {
	k := &g.kept
	if b := k.back; b != nil && b.record.Client == client {
		b.steady.Store(true)
		k.lock.steady = true
		g.wantSaved(&g.state)
		g.beginSave()
		return nil
	}
	c := g.callers.served
	if c == nil || c.client != client {
		return nil
	}
	is := make(chan hook.Result, 1)
	c.ended = append(c.ended, is)
	g.run.tell(ends(hook.Result{}))
	return is
}

// lock returns the caller that is a client, and waits or has its grant.
func (k *callers) lock() *Caller {
	if k.served != nil && k.served.client != "" {
		return k.served
	}
	if i := slices.IndexFunc(k.queue, func(c *Caller) bool { return c.client != "" }); i >= 0 {
		return k.queue[i]
	}
	return nil
}

// begin records the client of a run that begins, if it has one.
func (k *kept) begin(c *Caller) {
	k.lock = lock{}
	if c != nil && c.client != "" {
		k.lock = lock{client: c.client, asked: k.gate.env.Clock.Boot().Up, granting: c}
		k.gate.wantSaved(&k.gate.state)
		if k.gate.saver.record.Kept.Client != c.client {
			k.gate.run.Stop() // The grant is not one that is kept.
		}
	}
}

// onSaved tells a client of its grant when the record is on the disk.
func (l *lock) onSaved(g *Gate, err error) {
	c := l.granting
	if l.granting = nil; c == nil {
		return
	}
	served := g.callers.served
	switch holds := g.kept.back != nil || served != nil && served.client == c.client; {
	case err == nil && holds:
		close(c.granted)
	case served == c:
		g.run.Stop()
	case err == nil:
		c.refuse(refuse(control.Busy, "the grant of this host has ended: ask again"))
	default:
		c.refuse(fmt.Errorf("the grant of this host cannot be recorded: %w", err))
	}
}

// absence is a run without a process. It ends when its client needs the grant no longer, or has not rebooted in time.
type absence struct {
	most  time.Duration
	began time.Time
	done  chan hook.Result

	mu   sync.Mutex
	late *time.Timer
	over bool
}

var _ HookRun = (*absence)(nil)

func newAbsence(most time.Duration) *absence {
	a := &absence{most: most, began: time.Now(), done: make(chan hook.Result, 1)}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.late = time.AfterFunc(most, func() { a.end(hook.Result{Exit: -1, TimedOut: true, Err: errNotRebooted(most)}) })
	return a
}

func (a *absence) end(r hook.Result) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over {
		return
	}
	a.over, r.Took = true, time.Since(a.began)
	a.late.Stop()
	a.done <- r
}

// again lets its time begin again. It reports false if it is over.
func (a *absence) again() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !a.over && a.late.Reset(a.most)
}

// ends returns the instruction to end an absence, which may be over already.
func ends(r hook.Result) func(HookRun) {
	return func(run HookRun) {
		if a, is := run.(*absence); is {
			a.end(r)
		}
	}
}

// Stop implements [HookRun].
func (a *absence) Stop() {
	a.end(hook.Result{Exit: -1, Stopped: true, Err: errors.New("its grant is over")})
}

// Done implements [HookRun].
func (a *absence) Done() <-chan hook.Result { return a.done }

// Extend implements [HookRun]: there is no process to end.
func (a *absence) Extend(time.Duration) {}

// PreSigned implements [HookRun]: no guard sends anything.
func (a *absence) PreSigned([]hook.Word) {}

// errLeftBehind is the end of a run here whose grant outlives this agent.
var errLeftBehind = errors.New("its agent stops, and its grant is kept")

func errNotRebooted(keep time.Duration) error {
	return fmt.Errorf("its host has not rebooted within %v, for which the grant was kept", keep)
}

func errOtherClient() error {
	return refuse(control.Busy, "another client of this host has the grant, or waits for it")
}

package together

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/wanderd/wanderd/agent/hook"
)

// Run is an operation that runs under a grant: see [hook.Run].
type Run interface {
	Stop()
	Extend(until time.Duration)
	PreSigned(words []hook.Word)
	Done() <-chan hook.Result
}

// Take asks for a gate of this host, as a caller does: when the gate is granted, start is called, and what it returns
// is what runs there. Take returns when that is over, or when quit is closed before it has begun.
type Take func(gate string, quit <-chan struct{}, start func(hook.Limits) (Run, error)) error

// Holds are the gates that one run holds besides its own. All methods may be called from any goroutine.
type Holds struct {
	names  []string
	within time.Duration
	take   Take
	// stop stops the run, or prevents its start; it is called when one of the gates is lost.
	stop func()

	mu sync.Mutex
	// held are the gates so far, in the order in which they were asked for.
	held []*held
	// run is the operation, and own are the limits of its own grant; run is nil until it has started.
	run Run
	own time.Duration
}

// New returns what a run needs besides its own gate: the gates with these names in this order, all within a time.
func New(names []string, within time.Duration, take Take, stop func()) *Holds {
	return &Holds{names: names, within: within, take: take, stop: stop}
}

// Names are the gates, in the order in which they are taken.
func (h *Holds) Names() []string { return h.names }

// ErrStopped is returned by [Holds.Take] if the run was stopped before it held all gates.
var ErrStopped = errors.New("stopped before it held all its gates")

// Take takes the gates, one after another, until halt is closed. "No token is held for longer than with_wait for
// another": after an error the run must not start, and [Holds.Release] lets all go.
func (h *Holds) Take(halt <-chan struct{}) error {
	late := time.NewTimer(h.within)
	defer late.Stop()
	for _, name := range h.names {
		one := &held{
			holds: h, name: name, since: time.Now(), granted: make(chan struct{}), quit: make(chan struct{}),
			done: make(chan hook.Result, 1),
		}
		h.mu.Lock()
		h.held = append(h.held, one)
		h.mu.Unlock()
		refused := make(chan error, 1)
		go func() {
			err := h.take(name, one.quit, one.start)
			one.release(hook.Result{Exit: -1, Err: err}) // Its agent may have ended before the run has.
			refused <- err
		}()
		select {
		case <-one.granted:
		case err := <-refused:
			return fmt.Errorf("gate %q is not to be had: %w", name, err)
		case <-late.C:
			return fmt.Errorf("gate %q was not granted within %v", name, h.within)
		case <-halt:
			return h.whyHalted()
		}
	}
	return nil
}

// whyHalted returns which gate was lost, if one was; otherwise the run itself is to stop.
func (h *Holds) whyHalted() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, one := range h.held {
		if one.lost {
			return fmt.Errorf("gate %q was lost meanwhile", one.name)
		}
	}
	return ErrStopped
}

// WaitsFor is the gate that is asked for, and since when; it is empty if none is.
func (h *Holds) WaitsFor() (gate string, since time.Time) {
	if h == nil {
		return "", time.Time{}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if n := len(h.held); n > 0 && h.held[n-1].limits == nil && !h.held[n-1].over {
		gate, since = h.held[n-1].name, h.held[n-1].since
	}
	return gate, since
}

// Limit returns the limits of a run that holds all gates: the narrowest of each.
func (h *Holds) Limit(own hook.Limits) hook.Limits {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.own = own.Until
	least := func(a, b time.Duration) time.Duration {
		if a == 0 || b == 0 {
			return max(a, b)
		}
		return min(a, b)
	}
	for _, one := range h.held {
		if l := one.limits; l != nil {
			own.Timeout, own.Grace = least(own.Timeout, l.Timeout), least(own.Grace, l.Grace)
			own.OrphanGrace, own.Until = least(own.OrphanGrace, l.OrphanGrace), least(own.Until, l.Until)
		}
	}
	return own
}

// Started returns the operation as its own gate sees it: what the gate says about the end of its grant is weighed
// against the ends of the others.
func (h *Holds) Started(run Run) Run {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.run = run
	return operation{Run: run, holds: h}
}

// extend tells the operation when the first of its grants ends.
func (h *Holds) extend() {
	until := h.own
	for _, one := range h.held {
		if l := one.limits; l != nil && l.Until > 0 && (until == 0 || l.Until < until) {
			until = l.Until
		}
	}
	if h.run != nil && until > 0 {
		h.run.Extend(until)
	}
}

// Ended lets nothing more be told to the operation. The gates are held until [Holds.Release].
func (h *Holds) Ended() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.run = nil
}

// Release lets all gates go, the last one first, with the result of the operation.
func (h *Holds) Release(r hook.Result) {
	if h == nil {
		return
	}
	h.mu.Lock()
	all := slices.Clone(h.held)
	h.mu.Unlock()
	for _, one := range slices.Backward(all) {
		one.release(r)
	}
}

// operation is the operation of a run that holds several gates.
type operation struct {
	Run
	holds *Holds
}

// Extend implements [Run].
func (o operation) Extend(until time.Duration) {
	o.holds.mu.Lock()
	defer o.holds.mu.Unlock()
	o.holds.own = until
	o.holds.extend()
}

// held is what runs in another gate: nothing, until the operation is over for which the gate is held.
type held struct {
	holds   *Holds
	name    string
	since   time.Time
	granted chan struct{}
	quit    chan struct{}
	done    chan hook.Result

	// The lock of holds guards these. limits are those of the grant; nil until it is granted. lost is true if the gate
	// was told to stop what runs under it, and over if it was released.
	limits     *hook.Limits
	lost, over bool
}

var _ Run = (*held)(nil)

// start begins to hold the gate.
func (o *held) start(l hook.Limits) (Run, error) {
	o.holds.mu.Lock()
	defer o.holds.mu.Unlock()
	if o.over {
		return nil, hook.ErrLate
	}
	o.limits, o.since = &l, time.Now()
	close(o.granted)
	return o, nil
}

func (o *held) release(r hook.Result) {
	o.holds.mu.Lock()
	defer o.holds.mu.Unlock()
	if o.over {
		return
	}
	o.over = true
	if o.limits == nil {
		close(o.quit)
		return
	}
	r.Took = time.Since(o.since)
	o.done <- r
}

// Stop implements [Run]: the gate is lost, so the operation is stopped. The gate is released when nothing of it is
// left.
func (o *held) Stop() {
	o.holds.mu.Lock()
	o.lost = true
	o.holds.mu.Unlock()
	o.holds.stop()
}

// Extend implements [Run].
func (o *held) Extend(until time.Duration) {
	o.holds.mu.Lock()
	defer o.holds.mu.Unlock()
	o.limits.Until = until
	o.holds.extend()
}

// PreSigned implements [Run]: the guard of the operation speaks for its own gate only.
func (o *held) PreSigned([]hook.Word) {}

// Done implements [Run].
func (o *held) Done() <-chan hook.Result { return o.done }

// Package together takes several gates for one run, and holds them until its operation is over: what package
// policy/holds says, with real callers, timers and processes.
//
// Its decisions, in docs/decisions: 105.
package together

import (
	"sync"
	"time"

	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy/holds"
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
	names []string
	take  Take
	// stop stops the run, or prevents its start; it is called when one of the gates is lost.
	stop func()

	mu  sync.Mutex
	way holds.Taking
	// begun is when the first gate was asked for; zero before.
	begun time.Time
	// held are the gates so far, in the order in which they were asked for.
	held []*held
	// run is the operation, and own are the limits of its own grant; run is nil until it has started.
	run Run
	own time.Duration
}

// New returns what a run needs besides its own gate: the gates with these names in this order, all within a time.
func New(names []string, within time.Duration, take Take, stop func()) *Holds {
	return &Holds{names: names, way: holds.NewTaking(names, within), take: take, stop: stop}
}

// Names are the gates, in the order in which they are taken.
func (h *Holds) Names() []string {
	if h == nil {
		return nil
	}
	return h.names
}

// Take takes the gates, one after another, until halt is closed. After an error the run must not start, and
// [Holds.Release] lets all go.
func (h *Holds) Take(halt <-chan struct{}) error {
	late := time.NewTimer(h.way.Within())
	defer late.Stop()
	h.mu.Lock()
	h.begun = time.Now()
	h.mu.Unlock()
	for one := h.next(); one != nil; one = h.next() {
		refused := make(chan error, 1)
		go func() {
			err := h.take(one.name, one.quit, one.start)
			one.release(hook.Result{Exit: -1, Err: err}) // Its agent may have ended before the run has.
			refused <- err
		}()
		select {
		case <-one.granted:
		case err := <-refused:
			return h.end(func(t *holds.Taking) error { return t.Refuse(err) })
		case <-late.C:
			return h.end((*holds.Taking).Late)
		case <-halt:
			return h.end((*holds.Taking).Stop)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.way.Holds() {
		return h.way.Stop()
	}
	return nil
}

// next is the gate to be taken next; nil if there is none.
func (h *Holds) next() *held {
	h.mu.Lock()
	defer h.mu.Unlock()
	name, ok := h.way.Ask()
	if !ok {
		return nil
	}
	one := &held{
		holds: h, name: name, since: time.Now(), granted: make(chan struct{}), quit: make(chan struct{}),
		done: make(chan hook.Result, 1),
	}
	h.held = append(h.held, one)
	return one
}

func (h *Holds) end(how func(*holds.Taking) error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	return how(&h.way)
}

// Waited is for how long the run has waited for its gates so far.
func (h *Holds) Waited() time.Duration {
	if h == nil {
		return 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.begun.IsZero() {
		return 0
	}
	return time.Since(h.begun)
}

// WaitsFor is the gate that is asked for, and since when; it is empty if none is.
func (h *Holds) WaitsFor() (gate string, since time.Time) {
	if h == nil {
		return "", time.Time{}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if gate = h.way.Asks(); gate != "" {
		since = h.held[len(h.held)-1].since
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
	gates, all := h.way.Release(), h.held
	h.mu.Unlock()
	for i := range gates { // The last one first, as they were asked for.
		all[len(gates)-1-i].release(r)
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

	// The lock of holds guards these. limits are those of the grant; nil until it is granted. over is true if it was
	// released.
	limits *hook.Limits
	over   bool
}

var _ Run = (*held)(nil)

// start begins to hold the gate.
func (o *held) start(l hook.Limits) (Run, error) {
	o.holds.mu.Lock()
	defer o.holds.mu.Unlock()
	if o.over || !o.holds.way.Granted() {
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
	o.holds.way.Lose(o.name)
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

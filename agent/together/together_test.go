package together

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/lab/bubble"
)

// gates are gates of a host, each of which is free or not.
type gates struct {
	free    map[string]hook.Limits
	stopped int

	mu   sync.Mutex
	held []string
}

func (g *gates) notes(what string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = append(g.held, what)
}

// said is what was taken and released.
func (g *gates) said() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.held)
}

func (g *gates) take(name string, quit <-chan struct{}, start func(hook.Limits) (Run, error)) error {
	limits, free := g.free[name]
	if !free {
		<-quit
		return errors.New("nobody waits any more")
	}
	run, err := start(limits)
	if err != nil {
		return err
	}
	g.notes("+" + name)
	<-run.Done()
	g.notes("-" + name)
	return nil
}

func (g *gates) holds(names ...string) *Holds {
	return New(names, time.Minute, g.take, func() { g.stopped++ })
}

// A run that cannot have all gates holds none for longer than with_wait.
func TestARunThatCannotHaveAllLetsGo(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		g := &gates{free: map[string]hook.Limits{"a": {}, "c": {}}}
		h := g.holds("a", "b", "c")
		begun := time.Now()
		err := h.Take(nil)
		if err == nil || !strings.Contains(err.Error(), `gate "b"`) || time.Since(begun) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
		if name, since := h.WaitsFor(); name != "b" || since != begun {
			t.Errorf("%q since %v", name, since)
		}
		h.Release(hook.Result{})
		bubble.Wait()
		if !slices.Equal(g.said(), []string{"+a", "-a"}) {
			t.Errorf("%q", g.said())
		}
	})
}

// "All are released in reverse order": each of them once.
func TestTheLastGateIsReleasedFirst(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		g := &gates{free: map[string]hook.Limits{"a": {}, "b": {}}}
		h := g.holds("a", "b")
		if err := h.Take(nil); err != nil {
			t.Fatal(err)
		}
		all := h.held
		h.Release(hook.Result{})
		h.Release(hook.Result{})
		bubble.Wait()
		if len(g.said()) != 4 || !all[0].over || !all[1].over {
			t.Errorf("%q", g.said())
		}
		if _, err := all[0].start(hook.Limits{}); !errors.Is(err, hook.ErrLate) {
			t.Error("a gate that comes later is held")
		}
	})
}

// recorded is an operation that remembers the last end of its grant.
type recorded struct {
	Run
	until time.Duration
}

func (r *recorded) Extend(until time.Duration) { r.until = until }

// The narrowest limits hold: of its own grant, and of all others. So does the first end of a grant, whichever is
// renewed.
func TestTheNarrowestLimitsHold(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		g := &gates{free: map[string]hook.Limits{
			"a": {Timeout: time.Hour, Grace: 5 * time.Second, OrphanGrace: time.Second, Until: 30 * time.Second},
			"b": {},
		}}
		h := g.holds("a", "b")
		if err := h.Take(nil); err != nil {
			t.Fatal(err)
		}
		got := h.Limit(hook.Limits{Timeout: 2 * time.Hour, Grace: 10 * time.Second, OrphanGrace: time.Minute})
		if want := g.free["a"]; got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
		r := &recorded{}
		run := h.Started(r)
		a := h.held[0]
		for _, step := range []struct {
			run   Run
			until time.Duration
			want  time.Duration
		}{{a, 40, 40}, {run, 35, 35}, {run, 50, 40}, {a, 60, 50}} {
			if step.run.Extend(step.until); r.until != step.want {
				t.Errorf("%v, want %v", r.until, step.want)
			}
		}
		h.Ended()
		if run.Extend(100); r.until != 50 {
			t.Error("an operation that has ended hears of its grant")
		}
		h.Release(hook.Result{})
	})
}

// "A lost grant of any of them cuts the run": also before it has begun.
func TestALostGateStopsTheRun(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		g := &gates{free: map[string]hook.Limits{"a": {}}}
		halt := make(chan struct{})
		h := New([]string{"a", "b"}, time.Minute, g.take, func() { close(halt) })
		go func() {
			time.Sleep(time.Second)
			h.mu.Lock()
			first := h.held[0]
			h.mu.Unlock()
			first.Stop()
		}()
		if err := h.Take(halt); err == nil || !strings.Contains(err.Error(), `gate "a" was lost`) {
			t.Error(err)
		}
		if len(g.said()) != 1 {
			t.Error("a gate is released before the run is over")
		}
		h.Release(hook.Result{})
	})
}

// An agent that ends sends its callers away, and hears of no end of a run any more: what runs in the other gates ends
// then, too.
func TestAGateThatSendsItsCallersAwayIsHeldNoLonger(t *testing.T) {
	held, sentAway := make(chan Run, 1), make(chan struct{})
	h := New([]string{"a"}, time.Hour, func(_ string, _ <-chan struct{}, start func(hook.Limits) (Run, error)) error {
		run, err := start(hook.Limits{})
		held <- run
		<-sentAway
		if err != nil {
			return err
		}
		return errors.New("this agent ends")
	}, func() {})
	if err := h.Take(nil); err != nil {
		t.Fatal(err)
	}
	close(sentAway)
	if r := <-(<-held).Done(); r.Err == nil || r.Err.Error() != "this agent ends" {
		t.Errorf("%+v", r)
	}
	h.Release(hook.Result{}) // Nothing is left.
}

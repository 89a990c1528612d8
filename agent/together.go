package agent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/together"
	"github.com/wanderd/wanderd/policy/holds"
)

// A run may have to hold several gates: see package together. It takes the others as a caller of its own agent does.

// holding takes several gates of an agent for one run.
type holding struct{ a *Agent }

// inOrder returns the gates that a run needs which names some, in the order in which they are taken.
func (h holding) inOrder(named ...string) ([]string, error) {
	names, missing := holds.Order(named, func(name string) (holds.Gate, bool) {
		i := slices.IndexFunc(h.a.gates, func(g *gate.Gate) bool { return g.Name() == name })
		if i < 0 {
			return holds.Gate{}, false
		}
		return gate.ConfigOf(h.a.gates[i]).Needs(), true
	})
	if missing != "" {
		_, err := h.a.gateFor(missing)
		return nil, err
	}
	return names, nil
}

// others implements [gate.Env.Others].
func (h holding) others(g *gate.Gate, named []string, stop func()) (*together.Holds, error) {
	names, err := h.inOrder(append([]string{g.Name()}, named...)...)
	if err != nil || len(names) == 1 {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return name == g.Name() })
	return together.New(names, gate.ConfigOf(g).WithWait, h.takeFor(g.Name()), stop), nil
}

// heldFor is the index of a gate that is held here for a run of another one; below zero if it is not.
func (h holding) heldFor(name, other string) int {
	return slices.IndexFunc(h.a.gates, func(g *gate.Gate) bool {
		return g.Name() == name && gate.IsHeldFor(g, other)
	})
}

// held implements [gate.Env.Held].
func (h holding) held(name, other string) error {
	i := h.heldFor(name, other)
	if i < 0 {
		return fmt.Errorf("gate %q was lost meanwhile", name)
	}
	return gate.MayServe(h.a.gates[i])
}

// soaks implements [gate.Env.Soaks].
func (h holding) soaks(name, other string, takes time.Duration) {
	if i := h.heldFor(name, other); i >= 0 {
		gate.Soaks(h.a.gates[i], takes)
	}
}

// takeFor lets a run of a gate take others.
func (h holding) takeFor(run string) together.Take {
	return func(name string, quit <-chan struct{}, start func(hook.Limits) (together.Run, error)) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		go func() {
			select {
			case <-quit:
				cancel()
			case <-ctx.Done():
			}
		}()
		asks := control.ExecRequest{Gate: name, Command: "run of gate " + run, For: run}
		r, err := h.a.exec(ctx, asks, func(spec hook.Spec, _ time.Time) (gate.HookRun, error) {
			return start(spec.Limits)
		})
		if err == nil {
			err = r.Err
		}
		return err
	}
}

// ofAll returns the gate whose grant a caller waits for first, and completes what it asks for: its run takes the others
// of its gates after that.
func ofAll(a *Agent, asks *control.ExecRequest) (*gate.Gate, error) {
	if err := (byName{a}).bring(append([]string{asks.Gate}, asks.With...)...); err != nil {
		return nil, err
	}
	first, err := a.gateFor(asks.Gate)
	if err != nil || asks.For != "" {
		return first, err
	}
	names, err := holding{a}.inOrder(append([]string{first.Name()}, asks.With...)...)
	if err != nil || len(names) == 1 {
		return first, err
	}
	asks.With = names
	for _, name := range names {
		g, err := a.gateFor(name)
		switch {
		case err != nil:
			return nil, err
		case gate.ConfigOf(g).Keep > 0:
			return nil, refuse(control.NoGate, "gate %q keeps its grants beyond their runs, and cannot be held "+
				"together with others: leave it out", name)
		case asks.NonBlock && !gate.IsFree(g):
			return nil, refuse(control.Busy, "gate %q cannot be had at once", name)
		}
	}
	return a.gateFor(names[0])
}

func refuse(why control.Reason, format string, args ...any) error {
	return &control.Refusal{Reason: why, Text: fmt.Sprintf(format, args...)}
}

package agent

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
)

// Exec serves a caller from the control socket. The command runs on the caller's side, at the other end of conn.
func (s source) Exec(asks control.ExecRequest, conn io.ReadWriter) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	remote := hook.NewRemote(conn)
	go func() {
		<-remote.Gone() // at the latest when conn is closed, because Exec has returned
		cancel()
	}()
	r, err := s.a.exec(ctx, asks, func(spec hook.Spec, startBy time.Time) (gate.HookRun, error) {
		spec.Caller = asks.PID
		return remote.Start(spec, startBy)
	})
	if err == nil && r.NotExecuted {
		err = r.Err // A caller whose command runs has no use for the error: its guard has told it.
	}
	return err
}

// exec runs a command as the operation of a gate. The command waits until every earlier caller has had its turn and
// this host is granted the gate. exec returns when nothing is left of the command. When ctx is done, a waiting caller
// withdraws, and a running command is stopped.
func (a *Agent) exec(ctx context.Context, asks control.ExecRequest, start gate.Starter) (hook.Result, error) {
	c := gate.NewCaller(asks, start)
	var g *gate.Gate
	if err := do(ctx, a, func() (err error) {
		if g, err = ofAll(a, &c.ExecRequest); err != nil {
			return err
		}
		return g.Enqueue(c)
	}); err != nil {
		return hook.Result{}, err
	}
	select {
	case r := <-c.Ended():
		return r, nil
	case <-ctx.Done():
	}
	select {
	case a.queries <- func() { g.Withdraw(c) }:
		return <-c.Ended(), nil
	case r := <-c.Ended():
		return r, nil
	}
}

// gateFor returns the gate that a caller names, or the only gate if the caller names none.
func (a *Agent) gateFor(name string) (*gate.Gate, error) {
	var stay []*gate.Gate
	var names []string
	for _, g := range a.gates {
		if g.Name() == name {
			return g, nil
		}
		if c := gate.ConfigOf(g); !g.Removed() && c.ZoneOf == "" && c.Pattern == "" {
			stay, names = append(stay, g), append(names, g.Name())
		}
	}
	list := *a.patterns.Load()
	if name == "" && len(stay) == 1 && len(list) == 0 {
		return stay[0], nil
	}
	for _, p := range list {
		names = append(names, p.Config.Name)
	}
	text := fmt.Sprintf("this host takes no part in a gate %q; its gates are %s: name one of them with --gate",
		name, strings.Join(names, ", "))
	if name == "" {
		text = fmt.Sprintf("this host takes part in several gates: name one of %s with --gate",
			strings.Join(names, ", "))
	}
	return nil, refuse(control.NoGate, "%s", text)
}

// keepWithin is how long a run waits at most until it hears that its grant is kept beyond its end.
const keepWithin = 30 * time.Second

// Keep implements [control.Source].
func (s source) Keep(ctx context.Context, keep control.Keep) error {
	answers := make(chan error, 1)
	var g *gate.Gate
	if err := do(ctx, s.a, func() (err error) {
		if g, err = s.a.gateFor(keep.Gate); err != nil {
			return err
		}
		return gate.AskToKeep(g, &keep, answers)
	}); err != nil {
		return err
	}
	select {
	case err := <-answers:
		return err
	case <-time.After(keepWithin):
	case <-ctx.Done():
	}
	select {
	case s.a.queries <- func() { gate.NotKept(g) }:
		return <-answers
	case err := <-answers:
		return err
	}
}

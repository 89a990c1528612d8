package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/wanderd/follow"
)

// A directive with --all-gates is meant for the gates of all hosts. This host need not have them, but a member that
// answers must. The command then asks all hosts until they obey.

const (
	// obeyedWithin is how long the command waits for all hosts to obey, obeyedEvery how often it asks.
	obeyedWithin = 10 * time.Second
	obeyedEvery  = 500 * time.Millisecond
)

// directAll gives a directive to all gates of the fleet, and reports for each gate how many hosts obey.
func (p *program) directAll(ctx context.Context, client *control.Client, directive control.Directive) error {
	f, err := client.Fleet(ctx)
	if err != nil {
		return err
	}
	gates := follow.Gates(&f)
	for _, gate := range gates {
		directive.Gate, directive.Elsewhere = gate, true
		if err := client.GiveDirective(ctx, directive); err != nil {
			return fmt.Errorf("gate %s: %w", printable(gate), err)
		}
	}
	late := make(map[string][]string)
	for deadline := time.Now().Add(obeyedWithin); ; {
		if f, err = client.Fleet(ctx); err != nil {
			return err
		}
		all := true
		for _, gate := range gates {
			late[gate] = disobey(&f, gate, directive.Pause)
			all = all && len(late[gate]) == 0
		}
		if all || time.Now().After(deadline) {
			break
		}
		select {
		case <-time.After(obeyedEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	var b strings.Builder
	is := map[bool]string{true: "is paused", false: "is not paused"}[directive.Pause]
	failed := false
	for _, gate := range gates {
		fmt.Fprintf(&b, "gate %s %s on %s", printable(gate), is,
			count(uint64(hostsOf(&f, gate)-len(late[gate])), "host"))
		if failed = failed || len(late[gate]) > 0; len(late[gate]) > 0 {
			fmt.Fprintf(&b, "; not on %s", printable(strings.Join(late[gate], ", ")))
		}
		b.WriteByte('\n')
	}
	for i := range f.Members {
		writeMissing(&b, &f.Members[i].Member, f.Members[i].Missing)
	}
	if _, err := fmt.Fprint(p.stdout, b.String()); err != nil {
		return err
	}
	if failed {
		return errors.New("not all hosts obey: see \"wanderd status\" there, and give the directive there if their " +
			"clocks or versions differ")
	}
	return nil
}

// hostsOf returns how many of the members that have answered have a gate.
func hostsOf(f *control.Fleet, gate string) (n int) {
	for i := range f.Members {
		if gateOf(f.Members[i].Status, gate) != nil {
			n++
		}
	}
	return n
}

// disobey names the members that have a gate that is not in the state of the directive.
func disobey(f *control.Fleet, gate string, pause bool) (names []string) {
	for i := range f.Members {
		if g := gateOf(f.Members[i].Status, gate); g != nil && (g.Paused != nil) != pause {
			names = append(names, f.Members[i].Name)
		}
	}
	slices.Sort(names)
	return names
}

//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/hosts"
)

// brake lets the hook fail on one host, and then on all. Then it restarts all members, and resumes the gate.
func (w *world) brake() error {
	first := w.fleet.Hosts[:1]
	if _, err := watch(first, patience, "has failed three times", func(g *control.Gate) bool {
		return g.Failures >= 3
	}); err != nil {
		return err
	}
	if _, err := watch(w.fleet.Hosts, look, "goes on after three failures of one host", isResumed); err != nil {
		return err
	}
	w.say("three failures of one host: no brake")
	names := hosts.Names(len(w.fleet.Hosts))
	if err := os.WriteFile(w.failing, []byte(strings.Join(names, "\n")), 0o600); err != nil {
		return err
	}
	begun := time.Now()
	stopped, err := watch(w.fleet.Hosts, patience, "is paused by the brake, and says why", func(g *control.Gate) bool {
		return g.Paused != nil && strings.HasPrefix(g.Paused.Reason, "3 hosts failed in a row: ")
	})
	if err != nil {
		return err
	}
	between := slices.MaxFunc(stopped, earlier).at.Sub(slices.MinFunc(stopped, earlier).at)
	w.say("failures of three hosts: %q", stopped[0].gate.Paused.Reason)
	if err := w.print("  paused, from the first host to the last", []time.Duration{between}); err != nil {
		return err
	}
	if err := w.restart(begun); err != nil {
		return err
	}
	if err := os.Remove(w.failing); err != nil {
		return err
	}
	t, _, err := w.giveDirective(3, w.fleet.Hosts, isResumed, "resume")
	if err != nil {
		return err
	}
	err = w.print("  resumed", []time.Duration{t})
	run := w.fleet.Hosts[1].Wanderd("run", "--wait")
	if said, failed := run.CombinedOutput(); failed != nil {
		err = errors.Join(err, fmt.Errorf("%s: %w, want exit status 0: %s", run, failed, said))
	}
	return err
}

// restart cuts the power of all hosts at once. When they are back, all of them must still know of the pause, and none
// may run.
func (w *world) restart(since time.Time) error {
	for _, h := range w.fleet.Hosts {
		h.PowerCut()
	}
	back := time.Now()
	if err := w.fleet.Start(patience); err != nil {
		return err
	}
	if _, err := watch(w.fleet.Hosts, look, "is still paused after a restart of all", func(g *control.Gate) bool {
		return g.Paused != nil && g.Paused.Since.Before(back) &&
			!g.Paused.Since.Before(since.Truncate(time.Millisecond))
	}); err != nil {
		return err
	}
	said, err := w.fleet.Hosts[0].Wanderd("exec", "--wait", "2s", "--", "true").CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != notGranted {
		return fmt.Errorf("exec in a paused gate: %w, want exit status %d: %s", err, notGranted, said)
	}
	last, err := watch(w.fleet.Hosts, look, "answers", func(*control.Gate) bool { return true })
	for i, s := range last {
		if s.gate.LastRun.After(back) {
			err = errors.Join(err, fmt.Errorf("%s ran at %s, after the restart", w.fleet.Hosts[i].Name, s.gate.LastRun))
		}
	}
	if err == nil {
		w.say("power cut of all hosts at once: all are still paused, and none has run")
	}
	return err
}

// notGranted is the exit status of "wanderd exec" if the gate was not granted in time.
const notGranted = 75

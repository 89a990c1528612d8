//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/hosts"
)

// patience bounds every wait for which there is no rule.
const patience = time.Minute

// hookScript fails on the hosts whose names are in a file.
const hookScript = `#!/bin/sh
sleep 0.3
! grep -qsx "$WANDERD_NAME" "$1"
`

// busy is a gate in which some member runs nearly always. In a braked gate, the first host fails more than once between
// two rounds.
const (
	busy   = "min_interval = \"3s\""
	braked = "min_interval = \"40s\"\nretry_after = \"2s\"\nstop_after = 3"
)

// world is a fleet that receives directives.
type world struct {
	fleet   *hosts.Fleet
	failing string
	say     func(format string, args ...any)
	// patient is true if the machine may be busy with something else. Then a directive may take longer than it should.
	patient bool
}

// inWorld starts a fleet in a new directory, and runs a drill with it.
func inWorld(s hosts.Settings, gate string, say func(string, ...any), drill func(*world) error) (err error) {
	w := &world{failing: filepath.Join(s.Dir, "failing"), say: say}
	hook, failsFirst := filepath.Join(s.Dir, "hook.sh"), ""
	if gate == braked {
		failsFirst = hosts.Names(1)[0]
	}
	if err := errors.Join(os.Mkdir(s.Dir, 0o700), os.WriteFile(hook, []byte(hookScript), 0o700),
		os.WriteFile(w.failing, []byte(failsFirst), 0o600)); err != nil {
		return err
	}
	s.Gate = fmt.Sprintf("hook = [%q, %q]\n%s", hook, w.failing, gate)
	if w.fleet, err = hosts.New(s); err != nil {
		return err
	}
	defer w.fleet.Close()
	if err := w.fleet.Start(patience); err != nil {
		return err
	}
	if _, err := watch(w.fleet.Hosts, patience, "has run", func(g *control.Gate) bool {
		return g.Runs > 0
	}); err != nil {
		return err
	}
	return drill(w)
}

// lose lets every host lose some of 1,000 packets that come to it.
func (w *world) lose(perMille int) (err error) {
	for i := range w.fleet.Hosts {
		err = errors.Join(err, w.fleet.Network.Lose(i, perMille))
	}
	return err
}

// seen is a host's answer about its gate when that first was as expected, and when it gave that answer.
type seen struct {
	at   time.Time
	gate control.Gate
}

// look is the pause before a host is asked again.
const look = 25 * time.Millisecond

// watch asks hosts, all at the same time, until each of them answers as expected.
func watch(asked []*hosts.Host, within time.Duration, what string, met func(*control.Gate) bool) ([]seen, error) {
	found, failed := make([]seen, len(asked)), make([]error, len(asked))
	var all sync.WaitGroup
	for i, h := range asked {
		all.Go(func() {
			for deadline := time.Now().Add(within); ; time.Sleep(look) {
				s, err := h.Status()
				switch {
				case err == nil && met(&s.Gates[0]):
					found[i] = seen{time.Now(), s.Gates[0]}
					return
				case time.Now().Before(deadline):
				case err != nil:
					failed[i] = fmt.Errorf("%s does not say within %s that it %s: %w", h.Name, within, what, err)
					return
				default:
					g := &s.Gates[0]
					failed[i] = fmt.Errorf(
						"%s does not say within %s that it %s: paused %v, running %v, last run %s, members %d",
						h.Name, within, what, g.Paused, g.Running, g.LastRun, g.Members)
					return
				}
			}
		})
	}
	all.Wait()
	return found, errors.Join(failed...)
}

func isPaused(g *control.Gate) bool  { return g.Paused != nil }
func isResumed(g *control.Gate) bool { return g.Paused == nil }
func rests(g *control.Gate) bool     { return !g.Running }

// giveDirective gives a directive from one host, and returns how long it took, from the start of the command, until
// others obeyed. It may take within.
func (w *world) giveDirective(from int, to []*hosts.Host, met func(*control.Gate) bool, command string,
	args ...string,
) (time.Duration, []seen, error) {
	begun := time.Now()
	cmd := w.fleet.Hosts[from].Wanderd(command, args...)
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	found, err := watch(to, patience, "has obeyed "+command, met)
	err = errors.Join(err, cmd.Wait())
	return slices.MaxFunc(found, earlier).at.Sub(begun), found, err
}

// earlier compares when two hosts were as expected.
func earlier(a, b seen) int { return a.at.Compare(b.at) }

// unruly returns the number of runs that did not end as usual.
func unruly(g *control.Gate) uint64 {
	return g.Results["stopped"] + g.Results["timeout"] + g.Results["expired"] + g.Results["not_started"]
}

// print prints how long directives took. The error reports that one took too long.
func (w *world) print(what string, took []time.Duration) error {
	slices.Sort(took)
	longest := took[len(took)-1]
	w.say("%s: %d times, median %.2f s, longest %.2f s", what, len(took), took[len(took)/2].Seconds(),
		longest.Seconds())
	if longest > within && !w.patient {
		return fmt.Errorf("%s: %.2f s, more than %s", what, longest.Seconds(), within)
	}
	return nil
}

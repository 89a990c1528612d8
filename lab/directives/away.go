//go:build linux

package main

import (
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/hosts"
)

// absence is a way to be away and to come back.
type absence struct {
	name        string
	leave, back func(w *world, at int) error
}

func absences() []absence {
	return []absence{
		{"stopped", signal(syscall.SIGSTOP), signal(syscall.SIGCONT)},
		{"cut off", cut(true), cut(false)},
		{
			"without power",
			func(w *world, at int) error { w.fleet.Hosts[at].PowerCut(); return nil },
			func(w *world, at int) error { return w.fleet.Hosts[at].Start() },
		},
	}
}

func signal(sig syscall.Signal) func(*world, int) error {
	return func(w *world, at int) error {
		w.fleet.Hosts[at].Signal(sig)
		return nil
	}
}

func cut(off bool) func(*world, int) error {
	return func(w *world, at int) error { return w.fleet.Network.Isolate(at, off) }
}

// awayFor is how long a member is away: long enough that the others pass the token by or revive it.
const awayFor = 4 * time.Second

// absences lets one member after the other be away while the fleet is paused.
func (w *world) absences(times int) error {
	for _, a := range absences() {
		var took []time.Duration
		for i := range times {
			t, err := w.absent(a, i%len(w.fleet.Hosts))
			if err != nil {
				return fmt.Errorf("a member that was %s: %w", a.name, err)
			}
			took = append(took, t)
		}
		if times > 0 {
			w.say("a member was %s during the directive, and began no run: %d times; back, it knew the directive "+
				"after %.2f "+
				"s at most",
				a.name, times, slices.Max(took).Seconds())
		}
	}
	return nil
}

// absent lets a member be away while the fleet is paused. It must begin no run when it is back. absent returns how soon
// the member knew the directive.
func (w *world) absent(a absence, at int) (time.Duration, error) {
	if err := a.leave(w, at); err != nil {
		return 0, err
	}
	left, others := time.Now(), slices.Delete(slices.Clone(w.fleet.Hosts), at, at+1)
	if _, _, err := w.giveDirective((at+1)%len(w.fleet.Hosts), others, isPaused, "pause"); err != nil {
		return 0, err
	}
	time.Sleep(time.Until(left.Add(awayFor)))
	back := time.Now()
	if err := a.back(w, at); err != nil {
		return 0, err
	}
	itself := []*hosts.Host{w.fleet.Hosts[at]}
	known, err := watch(itself, patience, "knows the directive", isPaused)
	if err != nil {
		return 0, err
	}
	time.Sleep(within)
	later, err := watch(itself, patience, "rests", rests)
	if err == nil && later[0].gate.LastRun.After(back) {
		err = fmt.Errorf("%s began a run %s after it was back", itself[0].Name, later[0].gate.LastRun.Sub(back))
	}
	if err != nil {
		return 0, err
	}
	_, _, err = w.giveDirective(at, w.fleet.Hosts, isResumed, "resume")
	if err == nil {
		err = w.whole()
	}
	return known[0].at.Sub(back), err
}

// whole waits until all members see each other and run.
func (w *world) whole() error {
	now := time.Now()
	_, err := watch(w.fleet.Hosts, patience, "sees all, and runs", func(g *control.Gate) bool {
		return g.Members == len(w.fleet.Hosts) && g.LastRun.After(now)
	})
	return err
}

//go:build linux

package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/tools/hosts"
)

// absence is a way to be away, and to come back.
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

// awayFor is how long a member is away: the others pass the token by, or revive it.
const awayFor = 4 * time.Second

// absences lets three members at a time be away while the fleet is paused, each in its way.
func (w *world) absences(times int) error {
	ways := absences()
	took := make([][]time.Duration, len(ways))
	for i := range times {
		round, err := w.absent(ways, len(ways)*i)
		if err != nil {
			return fmt.Errorf("absence %d: %w", i+1, err)
		}
		for k, t := range round {
			took[k] = append(took[k], t)
		}
	}
	if times == 0 {
		return nil
	}
	w.say("members that were away during an order began no run when they were back; from the start of the return until the order was known:")
	var err error
	for k, a := range ways {
		err = errors.Join(err, w.print("  "+a.name, took[k]))
	}
	return err
}

// absent lets members be away while the fleet is paused, one in each way. They must begin no run when they are back, and tell how soon they knew the order.
func (w *world) absent(ways []absence, first int) ([]time.Duration, error) {
	size := len(w.fleet.Hosts)
	var away []*hosts.Host
	left := time.Now()
	for k, a := range ways {
		at := (first + k) % size
		away = append(away, w.fleet.Hosts[at])
		if err := a.leave(w, at); err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
	}
	others := slices.DeleteFunc(slices.Clone(w.fleet.Hosts), func(h *hosts.Host) bool { return slices.Contains(away, h) })
	if _, _, err := w.order((first+len(ways))%size, others, isPaused, "pause"); err != nil {
		return nil, err
	}
	time.Sleep(time.Until(left.Add(awayFor)))
	back, took, failed := make([]time.Time, len(ways)), make([]time.Duration, len(ways)), make([]error, len(ways))
	var all sync.WaitGroup
	for k, a := range ways {
		all.Go(func() {
			back[k] = time.Now()
			if failed[k] = a.back(w, (first+k)%size); failed[k] != nil {
				return
			}
			known, err := watch(away[k:k+1], patience, "knows the order", isPaused)
			if failed[k] = err; err == nil {
				took[k] = known[0].at.Sub(back[k])
			}
		})
	}
	all.Wait()
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	time.Sleep(within)
	later, err := watch(away, patience, "rests", rests)
	for k := range ways {
		if err == nil && later[k].gate.LastRun.After(back[k]) {
			err = fmt.Errorf("%s, which was %s, began a run %s after it was back", away[k].Name, ways[k].name, later[k].gate.LastRun.Sub(back[k]))
		}
	}
	if err != nil {
		return nil, err
	}
	if _, _, err = w.order(first%size, w.fleet.Hosts, isResumed, "resume"); err == nil {
		err = w.whole()
	}
	return took, err
}

// whole waits until all see each other, and all run.
func (w *world) whole() error {
	now := time.Now()
	_, err := watch(w.fleet.Hosts, patience, "sees all, and runs", func(g *control.Gate) bool {
		return g.Members == len(w.fleet.Hosts) && g.LastRun.After(now)
	})
	return err
}

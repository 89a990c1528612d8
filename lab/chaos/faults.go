//go:build linux

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"syscall"
	"time"
)

// fault is one kind of harm. It lasts for up to most, and is then healed.
type fault struct {
	name string
	most time.Duration
	// network is true if the fault needs a network.
	network bool
	strike  func(t *trial, at int)
	heal    func(t *trial, at int)
}

func nothing(*trial, int) {}

// faults returns all kinds of harm. None of them stops a guard and lets it go on later: a run that a stopped guard
// should have killed goes on until the guard does, and only a resource that checks the fencing number can help.
func faults() []fault {
	start := func(t *trial, at int) { t.try(t.fleet.Hosts[at].Start()) }
	return []fault{
		{"kill -9 of the agent", lease / 2, false, func(t *trial, at int) { t.fleet.Hosts[at].Kill() }, start},
		{"power cut", 2 * lease, false, func(t *trial, at int) { t.fleet.Hosts[at].PowerCut() }, start},
		{
			"power cut and loss of the gate's state", 2 * lease, false,
			func(t *trial, at int) {
				t.fleet.Hosts[at].PowerCut()
				if err := t.fleet.Hosts[at].Forget(); !errors.Is(err, fs.ErrNotExist) {
					t.try(err)
				}
			}, start,
		},
		{
			"SIGSTOP of the agent", 2 * lease, false,
			func(t *trial, at int) { t.fleet.Hosts[at].Signal(syscall.SIGSTOP) },
			func(t *trial, at int) { t.fleet.Hosts[at].Signal(syscall.SIGCONT) },
		},
		{
			"SIGSTOP of the command", 2 * lease, false, signals(recorder, syscall.SIGSTOP),
			signals(recorder, syscall.SIGCONT),
		},
		{"kill -9 of the command", 0, false, signals(recorder, syscall.SIGKILL), nothing},
		{"kill -9 of the caller", 0, false, signals("exec", syscall.SIGKILL), nothing},
		{"kill -9 of the guard", 0, false, signals("hook-guard", syscall.SIGKILL), nothing},
		{
			"restart", lease / 4, false,
			func(t *trial, at int) {
				h := t.fleet.Hosts[at]
				h.Signal(syscall.SIGTERM)
				time.Sleep(lease / 4)
				h.Kill()
			}, start,
		},
		{"cut off, both ways", 2 * lease, true, cutOff(true, true, true), cutOff(true, true, false)},
		{"cut off, to the others", 2 * lease, true, cutOff(true, false, true), cutOff(true, false, false)},
		{"cut off, from the others", 2 * lease, true, cutOff(false, true, true), cutOff(false, true, false)},
		{"cut off from one other", 2 * lease, true, cutOne(true), cutOne(false)},
		{
			"loss of 20 %", 2 * lease, true,
			func(t *trial, at int) { t.try(t.fleet.Network.Lose(at, 200)) },
			func(t *trial, at int) { t.try(t.fleet.Network.Lose(at, 0)) },
		},
	}
}

func signals(arg string, sig syscall.Signal) func(*trial, int) {
	return func(t *trial, at int) { t.fleet.Hosts[at].SignalAll(arg, sig) }
}

// cutOff cuts the ways between a host and all others, or restores them.
func cutOff(to, from, cut bool) func(*trial, int) {
	return func(t *trial, at int) {
		for other := range t.fleet.Hosts {
			if other == at {
				continue
			}
			if to {
				t.try(t.fleet.Network.Cut(at, other, cut))
			}
			if from {
				t.try(t.fleet.Network.Cut(other, at, cut))
			}
		}
	}
}

// A fault strikes every faultEvery on average. At every tick it is drawn whether one does.
const (
	faultEvery = 1500 * time.Millisecond
	tick       = 50 * time.Millisecond
)

// cutOne cuts the ways between a host and its neighbour, or restores them. All other hosts reach both.
func cutOne(cut bool) func(*trial, int) {
	return func(t *trial, at int) {
		other := (at + 1) % len(t.fleet.Hosts)
		t.try(t.fleet.Network.Cut(at, other, cut))
		t.try(t.fleet.Network.Cut(other, at, cut))
	}
}

// harm strikes hosts until the time is over, and then heals them. Each host has at most one fault at a time; several
// hosts may have faults at the same time.
func (t *trial) harm(dice *rand.Rand, until time.Time) {
	kinds := faults()
	if t.fleet.Network == nil {
		kinds = slices.DeleteFunc(kinds, func(f fault) bool { return f.network })
	}
	type wound struct {
		kind  fault
		heals time.Time
	}
	wounds := map[int]wound{}
	for now := time.Now(); now.Before(until); now = time.Now() {
		for at, w := range wounds {
			if now.After(w.heals) {
				w.kind.heal(t, at)
				t.log("%s: over: %s", t.fleet.Hosts[at].Name, w.kind.name)
				delete(wounds, at)
			}
		}
		if at := dice.IntN(len(t.fleet.Hosts)); dice.Int64N(int64(faultEvery)) < int64(tick) {
			if _, wounded := wounds[at]; !wounded {
				w := wound{kinds[dice.IntN(len(kinds))], now}
				w.heals = now.Add(time.Duration(dice.Int64N(int64(w.kind.most) + 1)))
				t.log("%s: %s for %.2f s", t.fleet.Hosts[at].Name, w.kind.name, w.heals.Sub(now).Seconds())
				t.struck[w.kind.name]++
				w.kind.strike(t, at)
				wounds[at] = w
			}
		}
		time.Sleep(tick)
	}
	for at, w := range wounds {
		w.kind.heal(t, at)
	}
}

// log writes the trace of a trial, by the clock of its journal.
func (t *trial) log(format string, args ...any) {
	_, _ = fmt.Fprintf(t.trace, "%.3f s  %s\n", sinceBoot().Seconds(), fmt.Sprintf(format, args...))
}

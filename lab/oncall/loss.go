//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/wanderd/wanderd/lab/hosts"
)

// loss is a way to lose the token, or those that know where it is.
type loss struct {
	name string
	// runs is true if the holder runs a command when it dies, waits if another host waits for that. Otherwise a host
	// calls after the kill.
	runs, waits bool
	// homes is how many of the homes die. The holder dies, too, unless it is spared.
	homes  int
	spared bool
	// strike is what happens to each of them.
	strike strike
}

// strike is what happens to a host.
type strike uint8

const (
	killAgent strike = iota
	cutPower
	cutOff
)

const bothHomes = 2

func losses() []loss {
	return []loss{
		{name: "agent of a holder that runs, somebody waits", runs: true, waits: true, strike: killAgent},
		{name: "agent of a holder that runs, nobody waits", runs: true, strike: killAgent},
		{name: "agent of a holder at rest", strike: killAgent},
		{name: "host of a holder that runs, somebody waits", runs: true, waits: true, strike: cutPower},
		{name: "host of a holder that runs, nobody waits", runs: true, strike: cutPower},
		{name: "network of a holder that runs, somebody waits", runs: true, waits: true, strike: cutOff},
		{name: "first home, the holder rests", homes: 1, spared: true, strike: cutPower},
		{
			name: "first home, as the holder's run ends, somebody waits", runs: true, waits: true, homes: 1,
			spared: true, strike: cutPower,
		},
		{name: "holder at rest and all homes", homes: bothHomes, strike: cutPower},
		{
			name: "holder that runs and all homes, somebody waits", runs: true, waits: true, homes: bothHomes,
			strike: cutPower,
		},
	}
}

// hit lets the same happen to several hosts at once.
func (d *drill) hit(s strike, all []*hosts.Host) error {
	failed := make([]error, len(all))
	var hits sync.WaitGroup
	for i, h := range all {
		hits.Go(func() {
			switch s {
			case killAgent:
				h.Kill()
			case cutPower:
				h.PowerCut()
			case cutOff:
				failed[i] = d.Network.Isolate(slices.Index(d.Hosts, h), true)
			}
		})
	}
	hits.Wait()
	return errors.Join(failed...)
}

// repeat loses the token again and again, and prints the figures.
func (d *drill) repeat(l *loss, rounds int) error {
	before := load()
	var next, detected []time.Duration
	for i := range rounds {
		if err := d.whole(); err != nil {
			return err
		}
		took, found, err := d.round(l)
		if err != nil {
			return fmt.Errorf("round %d: %w", i+1, err)
		}
		next, detected = append(next, took), append(detected, found)
	}
	fmt.Printf("%s: next run after %s", l.name, quantiles(next))
	if l.homes == bothHomes {
		fmt.Printf(", all have noticed the deaths after %s", quantiles(detected))
	}
	fmt.Printf(" (median / p90 / longest of %d; load %s, %s)\n", rounds, before, load())
	return nil
}

// round loses the token once. It returns how long the next run took to come, and how long all other members took to
// notice who died, if that is of interest.
func (d *drill) round(l *loss) (next, detected time.Duration, err error) {
	homes, err := d.homes(d.Hosts[0])
	if err != nil {
		return 0, 0, err
	}
	// A holder that is no home, and a caller that is neither: what is lost is as the name tells.
	rest := d.others(homes...)
	holder, caller := rest[0], rest[1]
	dead := slices.Clone(homes[:l.homes])
	if !l.spared {
		dead = append(dead, holder)
	}
	if l.runs {
		err = d.holds(holder)
	} else {
		err = d.run(holder)
	}
	if err != nil {
		return 0, 0, err
	}
	time.Sleep(calm)
	var c *call
	if l.waits {
		if c, err = d.call(caller); err != nil {
			return 0, 0, err
		}
	}
	time.Sleep(calm/2 + rand.N(calm/2))
	killed := time.Now()
	if err := d.hit(l.strike, dead); err != nil {
		return 0, 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	noticed := make(chan time.Time, 1)
	if l.homes == bothHomes {
		go d.detected(ctx, d.others(dead...), noticed)
	}
	if l.spared && l.runs {
		holder.SignalAll(forLong, syscall.SIGKILL) // The run ends as its home dies.
	}
	at := killed
	if c == nil {
		if c, err = d.call(caller); err != nil {
			return 0, 0, err
		}
		at = c.asked
	}
	ran, err := c.ran()
	if err != nil {
		return 0, 0, err
	}
	if l.homes == bothHomes {
		detected = (<-noticed).Sub(killed)
	}
	if l.strike == cutOff {
		err = d.Network.Isolate(slices.Index(d.Hosts, holder), false)
		holder.SignalAll(forLong, syscall.SIGKILL)
	}
	return ran.Sub(at), detected, err
}

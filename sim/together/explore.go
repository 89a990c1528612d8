package together

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// happening is what happens to one host after another, or to their network from one of them on, at random moments with
// a mean distance; zero means never.
type happening struct {
	every time.Duration
	at    policy.Time
	to    func(h int)
}

// happenings are what happens to hosts while there are callers and faults. asked counts the callers.
func (w *world) happenings(d sim.Dice, asked *int) []happening {
	s := w.s
	around := func(mean time.Duration) time.Duration { return time.Duration(d.ExpFloat64() * float64(mean)) }
	return []happening{
		{every: s.CallEvery, to: func(h int) {
			named := []string{plain(d.IntN(s.Plain)), plain(d.IntN(s.Plain))}
			if w.hosts[h].up && !w.isAway(h) && w.callers(h) < 2 {
				w.call(h, slices.Compact(named)...)
				*asked++
			}
		}},
		{every: s.FaultEvery, to: func(h int) {
			switch kind := d.IntN(4); {
			case kind == 0:
				w.crash(h, true)
			case kind == 1, w.isAway(h):
				w.crash(h, false)
			default:
				w.leave(h)
			}
			w.after(h, around(s.DownFor), func() { w.start(h) })
		}},
		{every: s.PauseEvery, to: func(h int) { w.pause(h, around(s.PauseFor), d.Sometimes(s.Asleep)) }},
		{every: s.PartEvery, to: func(int) {
			second := make([]bool, len(w.hosts))
			for h := range second {
				second[h] = d.Sometimes(0.5)
			}
			w.part(second, d.Sometimes(s.OneWay))
			w.later(around(s.PartFor), w.heal)
		}},
		{every: s.DeafEvery, to: func(h int) {
			serve := (*sim.Cluster).Deafen
			if d.Sometimes(s.Mute) {
				serve = (*sim.Cluster).Mute
			}
			w.parted++
			w.each(h, func(c *sim.Cluster, m int) { serve(c, m, true) })
			w.later(around(s.DeafFor), func() {
				w.isWhole()
				w.each(h, func(c *sim.Cluster, m int) { serve(c, m, false) })
			})
		}},
	}
}

// happen lets what happens to hosts happen until the scenario's faults are over, and counts the callers.
func (w *world) happen() (asked int, err error) {
	d := sim.NewDice(w.s.Seed, faultsLabel)
	all := w.happenings(d, &asked)
	next := func(e *happening) {
		if e.at = policy.Never; e.every > 0 {
			e.at = w.now.Add(time.Duration(d.ExpFloat64() * float64(e.every)))
		}
	}
	for i := range all {
		next(&all[i])
	}
	for end := policy.Time(w.s.Duration); w.now < end; {
		first := &all[0]
		for i := range all {
			if all[i].at < first.at {
				first = &all[i]
			}
		}
		if err := w.run(min(first.at, end)); err != nil {
			return asked, err
		}
		if w.now >= first.at {
			first.to(d.IntN(w.s.Hosts))
			next(first)
		}
	}
	return asked, nil
}

// waits returns whose upgrade has not run since the world was healed, or who waits still; nil if it is nobody.
func (w *world) waits() error {
	since, ran := w.now.Sub(w.healed), false
	for h := range w.hosts {
		at, is := w.rules.ran[h]
		is = is && at >= w.healed
		if ran = ran || is; !is && !w.s.Once {
			return fmt.Errorf("the upgrade of %s has not run for %v", sim.MemberName(h), since)
		}
		if n := w.callers(h); n > 0 {
			return fmt.Errorf("%d callers of %s wait after %v", n, sim.MemberName(h), since)
		}
	}
	if !ran {
		return fmt.Errorf("no upgrade has run for %v", since)
	}
	return nil
}

// explore runs the scenario: first with callers and faults, then until each host has had its turn.
func (s *Scenario) explore() (*rules, error) {
	w := newWorld(s)
	w.boot()
	var mend []func(sim.Network)
	for _, g := range w.gates {
		mend = append(mend, g.c.StartFaults(s.Faults))
	}
	asked, err := w.happen()
	if err != nil {
		return &w.rules, err
	}
	for h := range w.hosts {
		if err := w.run(max(w.now, w.hosts[h].awayUntil)); err != nil {
			return &w.rules, err
		}
	}
	if err := w.run(w.now.Add(2 * stopTimeout)); err != nil { // Whoever leaves has left.
		return &w.rules, err
	}
	for h := range w.hosts {
		if !w.hosts[h].up {
			w.start(h)
		}
	}
	for i, g := range w.gates {
		w.standsAt(g)
		mend[i](s.Network.Sound())
	}
	w.healed = w.now
	const looks = 100
	for i := range looks {
		if err := w.run(w.healed.Add(s.bound() * time.Duration(i+1) / looks)); err != nil {
			return &w.rules, err
		}
		if err = w.waits(); err == nil {
			break
		}
	}
	if err != nil {
		return &w.rules, err
	}
	if s.calm() && w.rules.served < asked {
		return &w.rules, fmt.Errorf("%d commands ran, and %d were asked for", w.rules.served, asked)
	}
	return &w.rules, w.rules.letGo()
}

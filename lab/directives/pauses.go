//go:build linux

package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// pauses pauses and resumes the fleet from one host after the other.
func (w *world) pauses(times, lost int) error {
	if times == 0 {
		return nil
	}
	if err := w.lose(lost); err != nil {
		return err
	}
	var paused, resumed []time.Duration
	running := 0
	for i := range times {
		p, during, err := w.pause(i % len(w.fleet.Hosts))
		if err != nil {
			return fmt.Errorf("pause %d: %w", i+1, err)
		}
		r, _, err := w.giveDirective((i+1)%len(w.fleet.Hosts), w.fleet.Hosts, isResumed, "resume")
		if err != nil {
			return fmt.Errorf("resume %d: %w", i+1, err)
		}
		paused, resumed = append(paused, p), append(resumed, r)
		running += during
	}
	w.say("%.1f %% of all packets lost, %d members; in %d pauses a run was under way, and ended as usual",
		float64(lost)/10, len(w.fleet.Hosts), running)
	return errors.Join(w.print("  paused, from the start of the command to the last host", paused),
		w.print("  resumed", resumed), w.lose(0))
}

// sameRun is by how much the start of one run may differ in two answers: an agent calculates it from two clocks.
const sameRun = 50 * time.Millisecond

// pause pauses the fleet from a host. It checks that no run begins where the pause is known, and that runs that had
// begun end as usual. It returns how many of these there were.
func (w *world) pause(from int) (took time.Duration, running int, err error) {
	took, first, err := w.giveDirective(from, w.fleet.Hosts, isPaused, "pause", "--reason", "drill "+strconv.Itoa(from))
	if err != nil {
		return took, 0, err
	}
	for _, s := range first {
		if s.gate.Running {
			running = 1
		}
	}
	if _, err = watch(w.fleet.Hosts, patience, "has let its run end", rests); err != nil {
		return took, running, err
	}
	time.Sleep(within / 4)
	last, err := watch(w.fleet.Hosts, patience, "is still paused", isPaused)
	for i, s := range last {
		name := w.fleet.Hosts[i].Name
		if s.gate.LastRun.Sub(first[i].gate.LastRun) > sameRun {
			err = errors.Join(err, fmt.Errorf("%s began a run at %s, and knew of the pause", name, s.gate.LastRun))
		}
		if unruly(&s.gate) > 0 {
			err = errors.Join(err, fmt.Errorf("runs of %s did not end as usual: %v", name, s.gate.Results))
		}
	}
	return took, running, err
}

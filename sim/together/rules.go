package together

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
)

// stopsWithin is how long an operation that was told to stop may go on.
const stopsWithin = time.Second

// rules check a world from outside: what a run needs is worked out from the scenario, and not from what the job says.
type rules struct {
	w *world
	// operating is the job whose operation runs on each host, by the gate that it began with.
	operating []*job
	// ran is when an operation of the first gate last started on each host; served counts the commands of callers.
	ran    map[int]policy.Time
	served int
	last   once
	// put counts the runs that were put off, cut those that were cut because a gate was lost, and late those that had
	// lost one when they had all.
	put, cut, late int
}

func (r *rules) fail(j *job, format string, args ...any) {
	if r.w.err == nil {
		r.w.err = fmt.Errorf("%v: %s on %s: %s", time.Duration(r.w.now), strings.Join(j.named, "+"),
			sim.MemberName(j.host), fmt.Sprintf(format, args...))
	}
}

// starts checks an operation that starts: "A run holds its gate and those that it needs, or it does not start." It must
// hold them in the eyes of their machines. Where nothing goes wrong, at most as many run at once under each gate as it
// has tokens; under a strict gate, whatever goes wrong.
func (r *rules) starts(j *job) {
	w := r.w
	for _, name := range w.s.needed(j) {
		g := w.gateNamed(j.host, name)
		if !w.holds(j, g) {
			r.fail(j, "it starts, and does not hold gate %s", name)
		}
	}
	if waited := w.now.Sub(j.since); waited > w.s.WithWait && !r.wasAway(j) {
		r.fail(j, "it starts after %v with its token, and may wait for %v", waited, w.s.WithWait)
	}
	r.forbidden(j)
	r.last.begins(r, j)
	r.operating = append(r.operating, j)
	for _, g := range w.s.gates() {
		if n := r.under(g.name); n > g.slots && (g.strict || w.s.calm()) {
			r.fail(j, "%d run at once under gate %s, and %d may", n, g.name, g.slots)
		}
	}
	if j.own() {
		if r.ran == nil {
			r.ran = make(map[int]policy.Time)
		}
		r.ran[j.host] = w.now
	} else {
		r.served++
	}
}

// wasAway reports whether the agent of a job has stood still since the job began.
func (r *rules) wasAway(j *job) bool { return r.w.hosts[j.host].awayUntil > j.since }

// under counts the operations that need a gate.
func (r *rules) under(name string) (n int) {
	r.operating = slices.DeleteFunc(r.operating, func(j *job) bool { return !r.w.isOperating(j) })
	for _, j := range r.operating {
		if slices.Contains(r.w.s.needed(j), name) {
			n++
		}
	}
	return n
}

// isHeld reports whether a member holds a token of its gate.
func isHeld(c *sim.Cluster, member int) bool {
	slots := 1
	if several, ok := c.Machine(member).(policy.Slotted); ok {
		slots = several.Slots()
	}
	for slot := range slots {
		if c.SlotStatus(member, slot).Holding {
			return true
		}
	}
	return false
}

// putsOff checks a run that is put off: "All gates are taken in one order, so nobody waits for a gate whose holder
// waits for one of his." So where nothing goes wrong, a run that is patient gets its gates.
func (r *rules) putsOff(j *job, why error) {
	r.put++
	if waited := r.w.now.Sub(j.since); waited > r.w.s.WithWait && !r.wasAway(j) {
		r.fail(j, "it waits for %v with its token, and may for %v", waited, r.w.s.WithWait)
	}
	if r.w.s.calm() && r.w.s.WithWait == patient && !errors.Is(why, errHeldUp) {
		r.fail(j, "it is put off: %v", why)
	}
}

// refused checks a run that cannot have a gate because its agent ends there: it holds none for that.
func (r *rules) refused(j *job, why error) {
	if j.taking.Holds() {
		r.fail(j, "it may start, although %v", why)
	}
}

// ends checks a run that is over: "A lost grant of any of them cuts the run."
func (r *rules) ends(j *job) {
	if late := r.w.now.Sub(j.stopBy); late > 0 && !r.wasAway(j) {
		r.fail(j, "it goes on for %v after it has lost a gate", late+stopsWithin)
	}
}

// letGo checks that each gate that somebody holds is held for a run that is not over.
func (r *rules) letGo() error {
	for _, g := range r.w.gates {
		for h, j := range g.held {
			if j != nil && j.state == over && g.c.Up(g.members[h]) {
				return fmt.Errorf("gate %s is held on %s for a run that is over", g.name, sim.MemberName(h))
			}
		}
	}
	return nil
}

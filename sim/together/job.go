package together

import (
	"errors"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/holds"
)

// jobState is how far a job is.
type jobState uint8

const (
	// waits: it waits for its first gate.
	waits jobState = iota
	// takes: it has its first gate, and takes the others.
	takes
	// operates: its operation runs.
	operates
	// orphaned: its agent was killed, and the guard of its operation ends that.
	orphaned
	over
)

// job is a run: of the operation of the first gate, or of a caller's command.
type job struct {
	host int
	// named are the gates that it names, and first is the one whose grant it begins with.
	named []string
	first *gate
	state jobState
	// tries counts the grants with which it has begun.
	tries  int
	taking holds.Taking
	// since is when it got its first gate. stopBy is when its operation must have ended, because a gate was lost; Never
	// if none was.
	since, stopBy policy.Time
	// startedAt is when its operation has started.
	startedAt policy.Time
	// killed is true once its guard has killed it, because one of its grants was over.
	killed bool
}

// isOperating reports whether something of a job's operation is left. Its guard has the narrowest limits of all: the
// first lease that ends.
func (w *world) isOperating(j *job) bool {
	if j.state == orphaned {
		w.standsAt(j.first)
		return j.state == orphaned
	}
	if j.state != operates || j.killed || !w.standsAt(j.first).Operating(j.first.members[j.host]) {
		return false
	}
	for _, name := range j.taking.Gates() {
		if g := w.gateNamed(j.host, name); !w.standsAt(g).Operating(g.members[j.host]) {
			return false
		}
	}
	return true
}

// own reports whether a job is an operation, and not a caller's command.
func (j *job) own() bool { return !j.first.onDemand }

// order returns the gates of a job in the order in which they are taken.
func (w *world) order(j *job) []string {
	names, missing := holds.Order(j.named, func(name string) (holds.Gate, bool) { return w.s.needs(j.host, name) })
	if missing != "" {
		panic("there is no gate " + missing)
	}
	return names
}

// call lets a caller on a host ask for gates.
func (w *world) call(h int, names ...string) {
	j := &job{host: h, named: names}
	j.first = w.gateNamed(h, w.order(j)[0])
	w.wait(j, j.first)
}

// wait lets a job wait for a gate.
func (w *world) wait(j *job, g *gate) {
	g.waiting[j.host] = append(g.waiting[j.host], j)
	if c := w.standsAt(g); c.Up(g.members[j.host]) {
		c.Want(g.members[j.host])
	}
}

// ran is called when a host was granted a gate.
func (w *world) ran(g *gate, h int) {
	var j *job
	switch {
	case len(g.waiting[h]) > 0:
		j = g.waiting[h][0]
		g.waiting[h] = g.waiting[h][1:]
	case g.onDemand: // Who has waited does not any more.
		w.standsAt(g).Deny(g.members[h])
		return
	default:
		j = &job{host: h, named: []string{g.name}, first: g}
	}
	c := w.standsAt(g)
	w.tells(j, "has "+g.name)
	if g.held[h] = j; g == j.first {
		w.begin(j)
	} else if !j.taking.Granted() {
		c.Deny(g.members[h])
		return
	}
	c.EndRunAt(g.members[h], policy.Never)
	w.goOn(j)
}

// tells says what becomes of a job.
func (w *world) tells(j *job, what string) {
	if w.tell != nil {
		w.tell(j, what)
	}
}

// begin begins a job with the grant of its first gate.
func (w *world) begin(j *job) {
	j.taking, j.state = holds.NewTaking(w.order(j)[1:], w.s.WithWait), takes
	j.since, j.stopBy = w.now, policy.Never
	j.tries++
	tries := j.tries
	w.after(j.host, j.taking.Within(), func() {
		if j.state == takes && j.tries == tries {
			w.putOff(j, j.taking.Late())
		}
	})
}

// goOn lets a job take its next gate, or start its operation.
func (w *world) goOn(j *job) {
	if name, ok := j.taking.Ask(); ok {
		w.wait(j, w.gateNamed(j.host, name))
		return
	}
	if !j.taking.Holds() {
		return
	}
	if why := w.lookAgain(j); why != nil {
		w.rules.late++
		w.cannot(j, why)
		return
	}
	w.tells(j, "starts")
	j.state, j.startedAt = operates, w.now
	w.rules.starts(j)
	lasts := w.s.Op + time.Duration(w.s.Spread*(2*w.dice.Float64()-1)*float64(w.s.Op))
	w.standsAt(j.first).EndRunAt(j.first.members[j.host], w.now.Add(lasts))
}

// lookAgain returns why a job that was granted all its gates cannot start: "After the last grant, the loop looks once
// more whether all of them are still here." A soft gate tells nobody to stop what it does not know to have begun; and
// the guard of an operation starts none whose grant is over.
func (w *world) lookAgain(j *job) error {
	if !w.holds(j, j.first) {
		return j.taking.Stop()
	}
	for _, name := range j.taking.Gates() {
		if !w.holds(j, w.gateNamed(j.host, name)) {
			j.taking.Lose(name)
			return j.taking.Stop()
		}
	}
	return w.mayStart(j)
}

// holds reports whether a job holds a gate.
func (w *world) holds(j *job, g *gate) bool {
	c, m := w.standsAt(g), g.members[j.host]
	return g.held[j.host] == j && c.Running(m) && isHeld(c, m)
}

// cannot ends a job that does not start: it is put off, unless it is to stop.
func (w *world) cannot(j *job, why error) {
	if errors.Is(why, holds.ErrStopped) {
		w.standsAt(j.first).Deny(j.first.members[j.host])
		return
	}
	w.putOff(j, why)
}

// putOff ends a job that cannot have all its gates: nothing starts, and its host is not ready for a while.
func (w *world) putOff(j *job, why error) {
	w.tells(j, "is put off: "+why.Error())
	w.rules.putsOff(j, why)
	h, m, d := j.host, j.first.members[j.host], &j.first.deferrals[j.host]
	d.Begin(w.now, why, w.now.Sub(j.since), w.s.WithWait, w.dice)
	c := w.standsAt(j.first)
	c.Deny(m)
	c.PutOff(m, true)
	first := j.first
	w.after(h, d.Until().Sub(w.now), func() {
		if d.Until() <= w.now && w.standsAt(first).Up(m) {
			d.End()
			first.c.PutOff(m, false)
		}
	})
}

// finished is called when a run has ended, as the machine sees it: the operation, or the hold of another gate.
func (w *world) finished(g *gate, h int, denied, failed bool) {
	j := g.held[h]
	if j != nil && j.first == g && failed {
		w.rules.last.fails(j)
	}
	if j != nil && g != j.first && j.state != over {
		w.lost(g, h)
		j.killed = true
	}
	if g.held[h] = nil; j != nil && j.first == g {
		w.ends(j, denied)
	}
	if c := w.standsAt(g); len(g.waiting[h]) > 0 && c.Up(g.members[h]) {
		c.Want(g.members[h])
	}
}

// ends lets go of all that a job holds. A caller whose command has not run waits again.
func (w *world) ends(j *job, denied bool) {
	w.rules.ends(j)
	if j.state == operates {
		w.tells(j, "ends")
	}
	for _, name := range j.taking.Release() {
		g := w.gateNamed(j.host, name)
		c, m := w.standsAt(g), g.members[j.host]
		if g.held[j.host] == j {
			c.EndRunAt(m, w.now)
			continue
		}
		g.waiting[j.host] = slices.DeleteFunc(g.waiting[j.host], func(other *job) bool { return other == j })
		if len(g.waiting[j.host]) == 0 && c.Up(m) {
			c.Unwant(m)
		}
	}
	j.state = over
	if denied && !j.own() {
		j.state = waits
		j.first.waiting[j.host] = append([]*job{j}, j.first.waiting[j.host]...)
	}
}

// lost is called when a machine wants a run to stop: its host has lost the gate, or its agent stops.
func (w *world) lost(g *gate, h int) {
	j := g.held[h]
	if j == nil || j.state == over {
		return
	}
	if g != j.first {
		j.taking.Lose(g.name)
		w.standsAt(g).EndRunAt(g.members[h], policy.Never) // It is held until nothing of the operation is left.
	}
	switch c := w.standsAt(j.first); {
	case j.state == takes:
		w.cannot(j, j.taking.Stop())
	case g != j.first:
		j.stopBy = min(j.stopBy, w.now.Add(stopsWithin))
		w.rules.cut++
		c.StopRun(j.first.members[h])
	}
}

// departed is called when the machine of a gate has left. Who waits for it there, waits in vain.
func (w *world) departed(g *gate, h int) {
	waiting := g.waiting[h]
	g.waiting[h], g.held[h], g.deferrals[h] = nil, nil, holds.Deferral{}
	for _, j := range waiting {
		if j.state == takes && w.standsAt(j.first).Up(j.first.members[h]) {
			w.rules.refused(j, j.taking.Refuse(errors.New("this agent ends")))
			w.standsAt(j.first).Deny(j.first.members[h])
		}
	}
	w.hosts[h].up = false
}

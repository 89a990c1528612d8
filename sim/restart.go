package sim

import "time"

// Restart stops all members at about the same time, once, and starts them again: an outage, or an upgrade of all hosts
// in parallel.
type Restart struct {
	// At is when they stop; zero means never.
	At time.Duration
	// Gracefully is true if the members are told to leave. Otherwise their processes are killed or, if Power is set,
	// their hosts are off.
	Gracefully, Power bool
	// After is the time from the stop to the first start, Within the time from there until all have started. A member
	// that is still leaving starts when it has left.
	After, Within time.Duration
	// Away is the share of members that do not start before the end of all faults. It is less than half.
	Away float64
}

// restart carries out the planned restart.
func (f *faults) restart() {
	if f.over {
		return
	}
	r := &f.what.Restart
	away := int(r.Away * float64(len(f.c.members)))
	for place, i := range f.dice.Perm(len(f.c.members)) {
		switch {
		case r.Gracefully:
			f.c.Leave(i)
		case r.Power:
			f.c.PowerCut(i)
		default:
			f.c.Crash(i)
		}
		f.forget(i)
		at := r.After + time.Duration(f.dice.Float64()*float64(r.Within))
		if place >= away {
			f.c.After(at, func() { f.keepUp(i) })
		}
	}
}

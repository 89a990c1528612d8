package soft

import "github.com/wanderd/wanderd/policy"

// Elsewhere is the state of the other slots of this member.
type Elsewhere struct {
	// Running is true while a run under another token is in progress. Waiting is true while another token waits here
	// until this member is due.
	Running, Waiting bool
	// HasRun is true if there was a run under another token. IntervalEnds is when the intervals after all such runs are
	// over.
	HasRun       bool
	IntervalEnds policy.Time
}

// Together sums up what the machines of all slots of a member do, in one pass over them. The zero value is that of a
// member without slots.
type Together struct {
	// runs and waits are how many do what [Elsewhere] says; running and waiting are the slots of one of each.
	runs, running  int
	waits, waiting int
	// ran is how many have run. latest is the slot whose interval ends last, at ends; of the others the last one ends
	// at others.
	ran, latest  int
	ends, others policy.Time
}

// Add adds the machine of a slot: whether it runs, whether its token waits, and the schedule of its runs.
func (t *Together) Add(slot int, running, waiting bool, own *Schedule, cfg Terms) {
	if running {
		t.runs, t.running = t.runs+1, slot
	}
	if waiting {
		t.waits, t.waiting = t.waits+1, slot
	}
	ends, hasRun := own.OwnIntervalEnds(cfg)
	switch {
	case !hasRun:
		return
	case t.ran == 0:
		t.latest, t.ends = slot, ends
	case ends > t.ends:
		t.latest, t.ends, t.others = slot, ends, t.ends
	case t.ran == 1 || ends > t.others:
		t.others = ends
	}
	t.ran++
}

// Without is what the slots other than one do.
func (t *Together) Without(slot int) Elsewhere {
	e := Elsewhere{
		Running: t.runs > 1 || t.runs == 1 && t.running != slot,
		Waiting: t.waits > 1 || t.waits == 1 && t.waiting != slot,
	}
	switch {
	case t.ran > 0 && t.latest != slot:
		e.HasRun, e.IntervalEnds = true, t.ends
	case t.ran > 1:
		e.HasRun, e.IntervalEnds = true, t.others
	}
	return e
}

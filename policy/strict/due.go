package strict

import "github.com/wanderd/wanderd/policy"

// due is what this member has to run. In a gate with an operation of its own, it asks by itself when that is due: min_interval since its last start,
// which is durable. Min_interval does not apply to callers there; in a gate on demand it does.
type due struct {
	onDemand bool
	// called says that a caller waits, told that the ring or tree knows that this member waits.
	called, told bool
	// paused says that an operator has paused the gate.
	paused  bool
	hasRun  bool
	lastRun policy.Time
	// notBefore is when a start may be tried again that could not be recorded.
	notBefore policy.Time
}

// ownAt is when min_interval is over.
func (g *Machine) ownAt() policy.Time {
	at := g.due.notBefore
	if g.due.hasRun {
		at = max(at, g.due.lastRun.Add(g.set.MinInterval))
	}
	return at
}

// operates reports whether this member's own operation is due.
func (g *Machine) operates(now policy.Time) bool { return !g.due.onDemand && now >= g.ownAt() }

// wants reports whether this member is to run.
func (g *Machine) wants(now policy.Time) bool {
	d := &g.due
	return !g.leaving && !d.paused && (g.operates(now) || d.called && (!d.onDemand || now >= g.ownAt()))
}

// counts reports whether a run now counts for min_interval; demanded, that it serves a caller in a gate with an operation of its own, which is not
// due.
func (g *Machine) counts(now policy.Time) (counts, demanded bool) {
	demanded = !g.due.onDemand && !g.operates(now)
	return !demanded && g.set.MinInterval > 0, demanded
}

// dueAt is when time alone makes this member want to run; Never if it does, or if it takes a caller.
func (g *Machine) dueAt() policy.Time {
	if g.due.told || g.turn.state != absent || g.leaving || g.due.paused || g.due.onDemand && !g.due.called {
		return policy.Never
	}
	return g.ownAt()
}

// tell tells the ring or tree whether this member waits.
func (g *Machine) tell(now policy.Instant, wants bool, out []policy.Effect) []policy.Effect {
	g.due.told = wants
	g.event.Kind = policy.Unwanted
	if wants {
		g.event.Kind = policy.Wanted
	}
	return g.inside(now, &g.event, out)
}

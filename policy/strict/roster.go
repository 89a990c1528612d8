package strict

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// onStarted begins a life. "Restart: the member never holds" (rule 9): the ring or tree begins as a member that was
// there before, without a token. Only a kept grant goes on: see keep.go.
func (g *Machine) onStarted(now policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	if err := g.set.Roster.Follows(&ev.State.Memo); err != nil {
		g.barred = err.Error()
		g.marks.Hit(markBarred)
		return policy.AppendTell(out, NoteBarred, wire.MemberID{}, nil)
	}
	g.b.Start(now.Time, &ev.State)
	// If the last run is in the future, a clock was or is wrong: the run counts as one that starts now.
	g.due.hasRun, g.due.lastRun = ev.State.HasRun, min(ev.State.LastRun, now.Time)
	g.due.repeat = g.pace().Held(remembered(&ev.State.Memo))
	if g.set.Roster.Changes(&ev.State.Memo) { // recorded at once: the next change starts from this roster
		s := g.state()
		out = policy.AppendSave(out, s)
	}
	g.event.Kind, g.event.State = policy.Started, policy.State{HasRun: ev.State.HasRun, LastRun: ev.State.LastRun}
	kept := ev.State.Kept // The event may be the ring's or tree's from now on.
	out = g.inside(now, &g.event, out)
	if kept.Holder == g.set.Roster.ID(g.self) {
		return g.resume(now, &kept, out)
	}
	return out
}

// standAside is the only step of a member that has left, or whose roster does not follow the saved one. Such a member
// leaves when it is told to.
func (g *Machine) standAside(ev *policy.Event, out []policy.Effect) []policy.Effect {
	if ev.Kind == policy.Leave && !g.gone {
		g.gone = true
		return append(out, policy.Effect{Kind: policy.Gone})
	}
	return out
}

package gate

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// exit is how far a gate is on its way out.
type exit struct {
	// leaving says that nothing begins any more, and that the gate is left when its run has ended; left, that the
	// machine was told to leave, at leftAt; gone, that it has left.
	leaving, left, gone bool
	leftAt              time.Time
	// removed says that the configuration does not have this gate any more; closing, that it is about to be forgotten.
	removed, closing bool
}

// Drain lets a gate go when its run has ended.
func (g *Gate) Drain() {
	g.exit.leaving = true
	g.callers.leave(g.refusal())
	if g.run == nil {
		g.leaveGate()
	}
}

// Leave lets a gate go at once: what runs is ended.
func (g *Gate) Leave() {
	g.exit.leaving = true
	g.leaveGate()
}

// leaveGate tells a gate's machine to leave, once.
func (g *Gate) leaveGate() {
	if g.exit.left {
		return
	}
	g.exit.left, g.exit.leftAt = true, time.Now()
	g.asking.unask()
	g.event.Kind = policy.Leave
	g.step()
	g.callers.leave(g.refusal())
}

// Remove lets a gate go that the configuration does not have any more.
func (g *Gate) Remove() {
	if g.exit.removed {
		return
	}
	g.exit.removed, g.exit.leaving = true, true
	g.log.Info().Bool("runs", g.run != nil).Msg("the gate is removed: waiting for what runs, and passing its token on")
	g.callers.leave(g.refusal())
	if g.run == nil {
		g.leaveGate()
	}
}

// IsOver reports, once, that nothing of a removed gate is left: no process, nothing in its machine, nothing on its way
// to the disk. A token that nobody takes is waited for as at a stop, for that long.
func (g *Gate) IsOver(patience time.Duration) bool {
	saves := g.saver.busy() || g.saver.wanted || g.roster != nil && g.roster.saving
	waits := !g.exit.gone && time.Since(g.exit.leftAt) <= patience
	if !g.exit.removed || g.exit.closing || !g.exit.left || waits || g.run != nil || g.asking.run != nil || saves {
		return false
	}
	g.exit.closing = true
	return true
}

// TakesPart reports whether this member takes part: not in a gate that a fault has closed, when nothing runs under it
// any more.
func (g *Gate) TakesPart() bool { return !g.isClosed() || g.run != nil }

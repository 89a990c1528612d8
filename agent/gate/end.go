package gate

import (
	"time"

	"github.com/wanderd/wanderd/policy"
)

// exit is how far a gate is on its way out.
type exit struct {
	// leaving is true from when nothing new begins and the gate is to be left once its run has ended; left from when
	// the machine was told to leave, at leftAt; gone once it has left.
	leaving, left, gone bool
	leftAt              time.Time
	// withGrant is true if the host goes down, and its grant is kept until it is back.
	withGrant bool
	// removed is true once the configuration no longer has this gate; closing, when the gate is about to be forgotten.
	removed, closing bool
}

// Drain lets a gate leave when its run has ended. A client's grant outlives the agent: nothing is waited for.
func (g *Gate) Drain() {
	g.exit.leaving = true
	g.callers.leave(g.refusal())
	if g.run == nil || g.run.isLock {
		g.leaveGate()
	}
}

// Leave lets a gate leave at once: what runs is ended.
func (g *Gate) Leave() {
	g.exit.leaving = true
	g.leaveGate()
}

// leaveGate tells a gate's machine to leave, once.
func (g *Gate) leaveGate() {
	if g.exit.left {
		return
	}
	if g.kept.holds() && !g.kept.asked {
		g.kept.askWhatStops()
		return
	}
	g.exit.left, g.exit.leftAt = true, time.Now()
	g.asking.unask()
	g.event.Kind = policy.Leave
	g.step()
	g.callers.leave(g.refusal())
}

// Remove lets a gate leave that the configuration no longer has.
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
// to the disk. If nobody takes its token, the gate waits as at a stop, for patience at most.
func (g *Gate) IsOver(patience time.Duration) bool {
	saves := g.saver.busy() || g.saver.wanted || g.roster != nil && g.roster.saving
	waits := !g.exit.gone && time.Since(g.exit.leftAt) <= patience
	if !g.exit.removed || g.exit.closing || !g.exit.left || waits || g.run != nil || g.asking.run != nil || saves {
		return false
	}
	g.exit.closing = true
	return true
}

// TakesPart reports whether this member takes part. It does not if a fault has closed the gate and nothing runs under
// it any more.
func (g *Gate) TakesPart() bool { return !g.isClosed() || g.run != nil }

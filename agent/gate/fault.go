package gate

import (
	"fmt"
	"runtime/debug"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/directive"
	"github.com/wanderd/wanderd/wire"
)

// A fault in this program that one gate meets, such as an index beyond a table, closes that gate on this host, and no
// other gate. What runs under it is stopped, and nothing new begins. Its token is not passed on, because the machine
// that had it cannot be trusted: the others revive the token or agree on a new one, as after a crash. The gate stays
// closed until the agent is started again. Everything else in the agent goes on.

// fault is the last fault of this program that a gate has met, and count how many it has met: above 0 the gate is
// closed.
type fault struct {
	last  string
	count uint64
}

// contain closes a gate if the code that worked for it has panicked. It must be deferred directly.
func (g *Gate) contain() {
	if fault := recover(); fault != nil {
		g.closeByFault(fault, debug.Stack())
	}
}

// Reads runs what, which only reads a gate. If that panics, the gate is closed, and what runs again.
func (g *Gate) Reads(what func()) {
	before := g.fault.count
	func() {
		defer g.contain()
		what()
	}()
	if g.fault.count > before {
		what()
	}
}

func (g *Gate) closeByFault(fault any, stack []byte) {
	g.fault.count++
	g.fault.last = fmt.Sprint(fault)
	g.log.Error().Str("fault", g.fault.last).Bytes("stack", stack).
		Msg("a fault in this program: this gate is closed on this host, the others go on; " +
			"restart the agent, and report this line")
	g.machine = directive.New(&closed{}, g.env.Self, g.cfg.StopAfter)
	// From now on the gate knows only its directives.
	g.machine.Step(g.env.Clock.Now(), &policy.Event{Kind: policy.Started, State: g.state}, nil)
	g.hands = [wire.MaxSlots]hands{}
	g.callers.leave(g.refusal())
	g.asking.unask()
	if g.exit.left {
		g.exit.gone = true
	}
	if g.run != nil {
		g.run.Stop()
		return
	}
	g.takePartNoMore()
}

// takePartNoMore tells the others that this member no longer takes part in a gate that is closed and under which
// nothing runs here: otherwise they would offer it their token in each lap.
func (g *Gate) takePartNoMore() {
	if err := g.env.Fleet.Withdraw(); err != nil {
		g.log.Warn().Err(err).Msg("the other members still see this one in a gate that is closed")
	}
}

func (g *Gate) isClosed() bool { return g.fault.count > 0 }

const whyClosed = "a fault in this program has closed the gate on this host: " +
	"restart the agent, and report what its log says"

// closed stands in for the machine of a gate that a fault has closed.
type closed struct{ notConfigured }

var _ policy.Machine = (*closed)(nil)

func (*closed) String() string { return control.Closed }

func (*closed) Status(policy.Time) policy.Status {
	return policy.Status{Phase: control.Closed, Why: whyClosed, NextRun: policy.Never}
}

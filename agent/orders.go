package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/membership/broadcast"
	"github.com/wanderd/wanderd/wire"
)

// Order serves the control socket: it gives an order to one gate, or to all gates of this host.
func (s source) Order(ctx context.Context, call control.Order) error {
	return do(ctx, s.a, func() error { return s.a.order(&call) })
}

func (a *Agent) order(call *control.Order) error {
	who := call.User + "@" + a.cfg.Name
	if len(who) > broadcast.MaxWho {
		who = a.cfg.Name
	}
	if len(call.Reason) > broadcast.MaxReason {
		return fmt.Errorf("the reason has %d bytes, at most %d are allowed", len(call.Reason), broadcast.MaxReason)
	}
	now := a.clock.Now()
	until := int64(0)
	switch {
	case !call.Pause:
	case call.For == 0:
		until = wire.ForEver
	default:
		until = now.Wall + int64(call.For)
	}
	gates := a.gates
	if call.Gate != "" {
		g, err := a.gateFor(call.Gate)
		if err != nil && call.Elsewhere {
			o := wire.Order{Stamp: uint64(max(time.Unix(0, now.Wall).UnixMilli(), 1)), By: a.self, Until: until}
			return a.members.Broadcast(membership.Broadcast{
				Gate: wire.GateIDOf(call.Gate), Order: o, Who: who, Reason: call.Reason,
			})
		}
		if err != nil {
			return err
		}
		gates = []*gate.Gate{g}
	}
	for _, g := range gates {
		g.Order(until, who, call)
	}
	return nil
}

// onNews takes in what gossip reports of orders.
func (a *Agent) onNews() {
	for _, n := range a.members.Broadcasts() {
		g := a.byGate[n.Gate]
		if g == nil {
			continue // the gate was removed meanwhile
		}
		g.Learn(statedir.Order{Order: n.Order, Who: n.Who, Reason: n.Reason})
	}
}

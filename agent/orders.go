package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// An order takes three ways to the other members: with every message of the gate, by gossip, and over the disk to the next life of this
// agent. Package order decides which one counts; here is what people are told of it.

// orders are what this agent knows of the orders to a gate, besides what the layer does. Only the loop uses them.
type orders struct {
	// fleet is about the newest order, as far as known; here about the pause of this host alone.
	fleet, here statedir.Order
}

// Order answers the control socket: it gives an order to one gate, or to all gates of this host.
func (s source) Order(ctx context.Context, call control.Order) error {
	return do(ctx, s.a, func() error { return s.a.order(&call) })
}

func (a *Agent) order(call *control.Order) error {
	who := call.User + "@" + a.cfg.Name
	if len(who) > membership.MaxWho {
		who = a.cfg.Name
	}
	if len(call.Reason) > membership.MaxReason {
		return fmt.Errorf("the reason has %d bytes, at most %d are allowed", len(call.Reason), membership.MaxReason)
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
			return a.members.Notify(membership.Broadcast{Gate: wire.GateIDOf(call.Gate), Order: o, Who: who, Reason: call.Reason})
		}
		if err != nil {
			return err
		}
		gates = []*gate{g}
	}
	for _, g := range gates {
		said := statedir.Order{Order: g.machine.Next(now.Wall, until), Who: who, Reason: call.Reason}
		if call.Here {
			g.orders.here = said
		} else {
			g.orders.fleet = said
		}
		a.giveOrder(g, said.Order, call.Here)
	}
	return nil
}

func (a *Agent) giveOrder(g *gate, o wire.Order, here bool) {
	g.event.Kind, g.event.Order, g.event.Here = policy.Ordered, o, here
	a.step(g)
}

// proclaim is the effect: the newest order of a gate has changed.
func (a *Agent) proclaim(g *gate, o wire.Order) {
	switch {
	case g.orders.fleet.Order == o:
	case o.By == a.self && o.Until != 0:
		g.orders.fleet = statedir.Order{Order: o, Who: "stop_after@" + a.cfg.Name, Reason: a.braked(g)}
	default:
		g.orders.fleet = statedir.Order{Order: o}
	}
	said := &g.orders.fleet
	a.sayOrder(g, said)
	n := membership.Broadcast{Gate: g.id, Order: o}
	if o.By == a.self {
		n.Who, n.Reason = said.Who, said.Reason
	}
	if err := a.members.Notify(n); err != nil {
		g.log.Warn().Err(err).Msg("the order travels without its reason")
		if err := a.members.Notify(membership.Broadcast{Gate: g.id, Order: o}); err != nil {
			g.log.Warn().Err(err).Msg("gossip does not carry the order; it goes with the token only")
		}
	}
}

func (a *Agent) sayOrder(g *gate, said *statedir.Order) {
	line := g.log.Warn().Str("by", a.giver(said))
	if said.Reason != "" {
		line.Str("reason", said.Reason)
	}
	switch until := said.Until; until {
	case 0:
		line.Msg("the gate is resumed")
	case wire.ForEver:
		line.Msg("the gate is paused until somebody resumes it")
	default:
		line.Time("until", time.Unix(0, until)).Msg("the gate is paused")
	}
}

// giver is who has given an order: by what is said of it, or the name of the member.
func (a *Agent) giver(said *statedir.Order) string {
	if said.Who != "" {
		return said.Who
	}
	return a.nameOf(said.By)
}

// braked names the hosts whose failures have stopped the gate, and their exit statuses.
func (a *Agent) braked(g *gate) string {
	list := g.machine.Failures()
	hosts := make([]string, 0, list.Len())
	for i, exit := range list.Exits[:list.Len()] {
		hosts = append(hosts, fmt.Sprintf("%s (exit %d)", a.nameByHint(list.Hosts[i]), exit))
	}
	text := fmt.Sprintf("%d hosts failed in a row: %s", len(hosts), strings.Join(hosts, ", "))
	if len(text) > membership.MaxReason {
		text = text[:membership.MaxReason-len(dots)] + dots
	}
	return text
}

const dots = "..."

// nameByHint is the name of the member whose identity begins so, or these digits.
func (a *Agent) nameByHint(hint uint32) string {
	if a.self.Hint() == hint {
		return a.cfg.Name
	}
	for i := range a.view.Members {
		if m := &a.view.Members[i]; m.ID.Hint() == hint {
			return m.Name
		}
	}
	return fmt.Sprintf("%08x", hint)
}

// onNews takes what gossip says of orders.
func (a *Agent) onNews() {
	for _, n := range a.members.Broadcasts() {
		g := a.byGate[n.Gate]
		if g == nil {
			continue // it was removed meanwhile
		}
		told := statedir.Order{Order: n.Order, Who: n.Who, Reason: n.Reason}
		if n.Order.Compare(g.machine.Newest()) > 0 {
			if g.orders.fleet = told; n.Order.Stamp <= wire.LatestStamp(a.clock.Now().Wall) {
				a.giveOrder(g, n.Order, false)
			}
		}
		if n.Order == g.machine.Newest() && n.Who != "" && g.orders.fleet != told {
			g.orders.fleet = told
			a.wantSaved(g, &g.state)
			a.beginSave(g)
		}
	}
}

// exitOf is the status of a failed run for the brake; zero if this agent has stopped it.
func exitOf(r *hook.Result) uint8 {
	if r.Stopped {
		return 0
	}
	return max(r.Status(), 1)
}

// pauses describes what holds a gate up, for the status.
func (a *Agent) pauses(g *gate, s *control.Gate) {
	wall := a.clock.Now().Wall
	if o := g.machine.Newest(); o.Pauses(wall) {
		s.Paused = a.pause(&g.orders.fleet, o.Until)
	}
	if until := g.machine.Here(); wall < until {
		s.PausedHere = a.pause(&g.orders.here, until)
	}
	list := g.machine.Failures()
	for i, exit := range list.Exits[:list.Len()] {
		s.Failing = append(s.Failing, control.Failing{Host: a.nameByHint(list.Hosts[i]), Exit: int(exit)})
	}
}

func (a *Agent) pause(said *statedir.Order, until int64) *control.Pause {
	p := &control.Pause{By: a.giver(said), Reason: said.Reason, Since: time.UnixMilli(int64(said.Stamp))}
	if until != wire.ForEver {
		p.Until = time.Unix(0, until)
	}
	return p
}

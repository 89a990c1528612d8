package gate

import (
	"fmt"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// An order reaches the other members in three ways: with every message of the gate, by gossip, and by way of the disk
// in the next life of this agent. Package order decides which order counts; this file has what people are told of it.

// orders are what this agent knows of the orders to a gate, in addition to what the layer of orders does. Only the loop
// uses them.
type orders struct {
	// fleet describes the newest known order; here describes the pause of this host alone.
	fleet, here statedir.Order
}

// Order gives an order of an operator of this host: a pause until then, or none.
func (g *Gate) Order(until int64, who string, call *control.Order) {
	said := statedir.Order{Order: g.machine.Next(g.env.Clock.Now().Wall, until), Who: who, Reason: call.Reason}
	if call.Here {
		g.orders.here = said
	} else {
		g.orders.fleet = said
	}
	g.giveOrder(said.Order, call.Here)
}

func (g *Gate) giveOrder(o wire.Order, here bool) {
	g.event.Kind, g.event.Order, g.event.Here = policy.Ordered, o, here
	g.step()
}

// proclaim carries out the effect that the newest order of a gate has changed.
func (g *Gate) proclaim(o wire.Order) {
	switch {
	case g.orders.fleet.Order == o:
	case o.By == g.env.Self && o.Until != 0:
		g.orders.fleet = statedir.Order{Order: o, Who: "stop_after@" + g.env.Name, Reason: g.braked()}
	default:
		g.orders.fleet = statedir.Order{Order: o}
	}
	said := &g.orders.fleet
	g.sayOrder(said)
	var who, reason string
	if o.By == g.env.Self {
		who, reason = said.Who, said.Reason
	}
	if err := g.env.Fleet.Notify(g.id, o, who, reason); err != nil {
		g.log.Warn().Err(err).Msg("the order travels without its reason")
		if err := g.env.Fleet.Notify(g.id, o, "", ""); err != nil {
			g.log.Warn().Err(err).Msg("gossip does not carry the order; it goes with the token only")
		}
	}
}

func (g *Gate) sayOrder(said *statedir.Order) {
	line := g.log.Warn().Str("by", g.giver(said))
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

// giver returns the giver of an order: from its description, or the name of the member.
func (g *Gate) giver(said *statedir.Order) string {
	if said.Who != "" {
		return said.Who
	}
	return g.nameOf(said.By)
}

// braked returns the hosts whose failures have stopped the gate, with their exit statuses.
func (g *Gate) braked() string {
	list := g.machine.Failures()
	hosts := make([]string, 0, list.Len())
	for i, exit := range list.Exits[:list.Len()] {
		hosts = append(hosts, fmt.Sprintf("%s (exit %d)", g.nameByHint(list.Hosts[i]), exit))
	}
	text := fmt.Sprintf("%d hosts failed in a row: %s", len(hosts), strings.Join(hosts, ", "))
	if len(text) > MaxReason {
		text = text[:MaxReason-len(dots)] + dots
	}
	return text
}

// MaxReason bounds the reason of an order, in bytes; gossip does not carry a longer one.
const (
	MaxReason = 200
	dots      = "..."
)

// nameByHint returns the name of the member whose identity begins with hint, or the digits of hint.
func (g *Gate) nameByHint(hint uint32) string {
	if g.env.Self.Hint() == hint {
		return g.env.Name
	}
	for _, m := range g.env.Fleet.Members(g.id) {
		if m.ID.Hint() == hint {
			return m.Name
		}
	}
	return fmt.Sprintf("%08x", hint)
}

// Learn takes in what gossip reports of an order.
func (g *Gate) Learn(told statedir.Order) {
	if told.Compare(g.machine.Newest()) > 0 {
		if g.orders.fleet = told; told.Stamp <= wire.LatestStamp(g.env.Clock.Now().Wall) {
			g.giveOrder(told.Order, false)
		}
	}
	if told.Order == g.machine.Newest() && told.Who != "" && g.orders.fleet != told {
		g.orders.fleet = told
		g.wantSaved(&g.state)
		g.beginSave()
	}
}

// exitOf returns the status of a failed run for the brake; zero if this agent has stopped the run.
func exitOf(r *hook.Result) uint8 {
	if r.Stopped {
		return 0
	}
	return max(r.Status(), 1)
}

// pauses adds what holds a gate up to the status.
func (g *Gate) pauses(s *control.Gate) {
	wall := g.env.Clock.Now().Wall
	if o := g.machine.Newest(); o.Pauses(wall) {
		s.Paused = g.pause(&g.orders.fleet, o.Until)
	}
	if until := g.machine.Here(); wall < until {
		s.PausedHere = g.pause(&g.orders.here, until)
	}
	list := g.machine.Failures()
	for i, exit := range list.Exits[:list.Len()] {
		s.Failing = append(s.Failing, control.Failing{Host: g.nameByHint(list.Hosts[i]), Exit: int(exit)})
	}
}

func (g *Gate) pause(said *statedir.Order, until int64) *control.Pause {
	p := &control.Pause{By: g.giver(said), Reason: said.Reason, Since: time.UnixMilli(int64(said.Stamp))}
	if until != wire.ForEver {
		p.Until = time.Unix(0, until)
	}
	return p
}

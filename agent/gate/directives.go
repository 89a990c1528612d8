package gate

import (
	"fmt"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/events"
	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A directive reaches the other members in three ways: with every message of the gate, by gossip, and by way of the
// disk in the next life of this agent. Package directive decides which directive counts; this file has what people are
// told of it.

// directives are what this agent knows of the directives to a gate, in addition to what the layer of directives does.
// Only the loop uses them.
type directives struct {
	// fleet describes the newest known directive; here describes the pause of this host alone.
	fleet, here statedir.Directive
	// told is the directive that people were told of last.
	told wire.Directive
}

// GiveDirective gives a directive of an operator of this host: a pause until then, or none.
func (g *Gate) GiveDirective(until int64, who string, directive *control.Directive) {
	said := statedir.Directive{
		Directive: g.machine.Next(g.env.Clock.Now().Wall, until), Who: who, Reason: directive.Reason,
	}
	if directive.Here {
		g.directives.here = said
	} else {
		g.directives.fleet = said
	}
	if g.stepDirective(said.Directive, directive.Here); directive.Here {
		emitDirective(g, &said, true)
		enterSkip(g, &said)
	}
}

// enterSkip records that this host skips its turns, as an operator has told it to.
func enterSkip(g *Gate, said *statedir.Directive) {
	if said.Until == 0 {
		return
	}
	s := history.Skip{By: g.giver(said), Reason: said.Reason}
	if said.Until != wire.ForEver {
		s.Until = time.Unix(0, said.Until).Round(0)
	}
	g.history.Skips(time.Now().Round(0), s)
}

// emitDirective tells people of a directive. All hosts give it one identity.
func emitDirective(g *Gate, said *statedir.Directive, here bool) {
	e := events.Event{Kind: events.Paused, By: g.giver(said), Reason: said.Reason, Here: here}
	switch {
	case said.Until == 0:
		e.Kind = events.Resumed
	case strings.HasPrefix(said.Who, brakeName), strings.HasPrefix(said.Who, stageName):
		e.Kind = events.Braked
	case said.Until != wire.ForEver:
		e.Until = time.Unix(0, said.Until).UTC()
	}
	identity := []any{said.Stamp, said.By.Short()}
	if here {
		identity = append(identity, "here")
	}
	emit(g, e, identity...)
}

// brakeName begins the name of the giver of a pause that no operator has given.
const brakeName = "stop_after@"

// standsName is the same for a pause because of a host that stays away, stageName for one because a run of a stage has
// failed, onceName for the rest of an interval in which a run has succeeded.
const (
	standsName = "keep_over@"
	stageName  = "first@"
	onceName   = "once@"
)

func (g *Gate) stepDirective(o wire.Directive, here bool) {
	g.event.Kind, g.event.Directive, g.event.Here = policy.Directed, o, here
	g.step()
}

// proclaim carries out the effect that the newest directive of a gate has changed.
func (g *Gate) proclaim(o wire.Directive) {
	switch {
	case g.directives.fleet.Directive == o:
	case o.By == g.env.Self && o.Until != 0 && g.kept.lost != "":
		g.directives.fleet = statedir.Directive{Directive: o, Who: standsName + g.env.Name, Reason: g.kept.lost}
	case o.By == g.env.Self && o.Until != 0 && o.Until != wire.ForEver:
		g.directives.fleet = statedir.Directive{
			Directive: o, Who: onceName + g.env.Name, Reason: "its run has succeeded, and one in " +
				g.cfg.Once.String() + " is enough",
		}
	case o.By == g.env.Self && o.Until != 0:
		g.directives.fleet = statedir.Directive{Directive: o, Who: brakeName + g.env.Name, Reason: g.braked()}
	default:
		g.directives.fleet = statedir.Directive{Directive: o}
	}
	said := &g.directives.fleet
	g.sayDirective(said)
	if g.directives.told != o { // otherwise an earlier life has told of it
		news := g.directives.told != (wire.Directive{}) || o.Pauses(g.env.Clock.Now().Wall)
		if news && !rests(g, said) { // The end of its run is the event.
			emitDirective(g, said, false)
		}
		g.directives.told = o
	}
	var who, reason string
	if o.By == g.env.Self {
		who, reason = said.Who, said.Reason
	}
	if err := g.env.Fleet.Notify(g.id, o, who, reason); err != nil {
		g.log.Warn().Err(err).Msg("the directive travels without its reason")
		if err := g.env.Fleet.Notify(g.id, o, "", ""); err != nil {
			g.log.Warn().Err(err).Msg("gossip does not carry the directive; it goes with the token only")
		}
	}
}

// rests reports whether a directive is the rest of an interval in which a run has succeeded. A host that has it from
// the token does not know who has given it before gossip says so.
func rests(g *Gate, said *statedir.Directive) bool {
	timed := g.cfg.Once > 0 && said.Until != 0 && said.Until != wire.ForEver
	return timed && (said.Who == "" || strings.HasPrefix(said.Who, onceName))
}

func (g *Gate) sayDirective(said *statedir.Directive) {
	line := g.log.Warn()
	if rests(g, said) {
		line = g.log.Info()
	}
	line.Str("by", g.giver(said))
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

// giver returns the giver of a directive: from its description, or the name of the member.
func (g *Gate) giver(said *statedir.Directive) string {
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
	return shortened(fmt.Sprintf("%d hosts failed in a row: %s", len(hosts), strings.Join(hosts, ", ")))
}

// shortened shortens a reason to what gossip carries.
func shortened(text string) string {
	if len(text) > MaxReason {
		text = text[:MaxReason-len(dots)] + dots
	}
	return text
}

// MaxReason bounds the reason of a directive, in bytes; gossip does not carry a longer one.
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

// Learn takes in what gossip reports of a directive.
func (g *Gate) Learn(told statedir.Directive) {
	if told.Compare(g.machine.Newest()) > 0 {
		if g.directives.fleet = told; told.Stamp <= wire.LatestStamp(g.env.Clock.Now().Wall) {
			g.stepDirective(told.Directive, false)
		}
	}
	if told.Directive == g.machine.Newest() && told.Who != "" && g.directives.fleet != told {
		g.directives.fleet = told
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
		s.Paused = g.pause(&g.directives.fleet, o.Until)
	}
	if until := g.machine.Here(); wall < until {
		s.PausedHere = g.pause(&g.directives.here, until)
	}
	list := g.machine.Failures()
	for i, exit := range list.Exits[:list.Len()] {
		s.Failing = append(s.Failing, control.Failing{Host: g.nameByHint(list.Hosts[i]), Exit: int(exit)})
	}
}

func (g *Gate) pause(said *statedir.Directive, until int64) *control.Pause {
	p := &control.Pause{By: g.giver(said), Reason: said.Reason, Since: time.UnixMilli(int64(said.Stamp))}
	if until != wire.ForEver {
		p.Until = time.Unix(0, until)
	}
	return p
}

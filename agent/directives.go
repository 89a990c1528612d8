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

// GiveDirective serves the control socket: it gives a directive to one gate, or to all gates of this host.
func (s source) GiveDirective(ctx context.Context, directive control.Directive) error {
	return do(ctx, s.a, func() error { return s.a.giveDirective(&directive) })
}

func (a *Agent) giveDirective(directive *control.Directive) error {
	who := giverOn(a.cfg.Name, directive.User)
	if len(directive.Reason) > broadcast.MaxReason {
		return fmt.Errorf("the reason has %d bytes, at most %d are allowed", len(directive.Reason), broadcast.MaxReason)
	}
	now := a.clock.Now()
	until := int64(0)
	switch {
	case !directive.Pause:
	case directive.For == 0:
		until = wire.ForEver
	default:
		until = now.Wall + int64(directive.For)
	}
	gates := a.gates
	if directive.Gate != "" {
		g, err := a.gateFor(directive.Gate)
		if err != nil && directive.Elsewhere {
			o := wire.Directive{Stamp: uint64(max(time.Unix(0, now.Wall).UnixMilli(), 1)), By: a.self, Until: until}
			return a.members.Broadcast(membership.Broadcast{
				Gate: wire.GateIDOf(directive.Gate), Directive: o, Who: who, Reason: directive.Reason,
			})
		}
		if err != nil {
			return err
		}
		gates = []*gate.Gate{g}
	}
	for _, g := range gates {
		g.GiveDirective(until, who, directive)
	}
	return nil
}

// giverOn names a user of a host as the giver of a directive.
func giverOn(host, user string) string {
	if who := user + "@" + host; len(who) <= broadcast.MaxWho {
		return who
	}
	return host
}

// onNews takes in what gossip reports of directives.
func (a *Agent) onNews() {
	a.forgotten.onNews()
	for _, n := range a.members.Broadcasts() {
		g := a.byGate[n.Gate]
		if g == nil {
			continue // the gate was removed meanwhile
		}
		g.Learn(statedir.Directive{Directive: n.Directive, Who: n.Who, Reason: n.Reason})
	}
}

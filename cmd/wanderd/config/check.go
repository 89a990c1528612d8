package config

import (
	"cmp"
	"net"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/events"
	"github.com/wanderd/wanderd/agent/fleetlock"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/safepath"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/cli/usual"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/peers"
	"github.com/wanderd/wanderd/policy/stages"
)

// Check completes an agent's configuration, or returns a [settings.Invalid] if a part was not understood or the parts
// do not fit together. It checks hooks and reads the secret.
func (l *Layers) Check() error {
	if l.unread {
		return l.Err()
	}
	l.checkGates()
	l.checkName()
	if err := control.CheckPath(l.Agent.Socket); err != nil && !l.Of(&l.Agent.Socket).Broken {
		l.Complain("%s", err)
	}
	if s := l.Of(&l.Agent.SocketGroup); s.IsSet() {
		if _, err := control.LookupGroup(l.Agent.SocketGroup); err != nil {
			l.Reject(s, "%s", err)
		}
	}
	if s := l.Of(&l.Agent.Metrics); s.IsSet() {
		if _, port, err := net.SplitHostPort(l.Agent.Metrics); err != nil {
			l.Reject(s, "%q has no port: write it as in 127.0.0.1:9946", l.Agent.Metrics)
		} else if _, err := parsePort(port, 1); err != nil {
			l.Reject(s, "%q: %s", l.Agent.Metrics, err)
		}
	}
	l.checkNetwork()
	l.checkSources()
	l.checkAdvertise()
	l.readSecret()
	l.checkTrust()
	l.checkEvents()
	l.Agent.Drain = l.stop == "drain"
	l.Agent.Alone = map[string]agent.Alone{
		"auto": agent.AloneAuto, "run": agent.AloneRun, "wait": agent.AloneWait,
	}[l.alone]
	return l.Err()
}

func (l *Layers) checkGates() {
	top := l.Of(&l.shared.Hook)
	switch {
	case len(l.gates) == 0 && !l.incomplete:
		l.Complain("nothing to gate: pass --hook ./sync.sh, or a file with [[gate]] tables with --config; a gate " +
			"without a hook takes commands")
	case len(l.gates) > 0 && !l.fromHook && top.IsSet():
		l.Complain("%s makes the gate %q, and %s describes gates too: "+
			"put the hook into a [[gate]] table with the name %[2]q, or drop the tables", top.About(), defaultGate,
			l.gates[0].origin)
	case len(l.gates) > identity.MaxGates:
		l.Complain("%s: this is gate %d, and an agent can have %d: run a second agent for the rest",
			l.gates[identity.MaxGates].origin, identity.MaxGates+1, identity.MaxGates)
	}
	if s := l.Of(&l.shared.Ready); s.IsSet() && len(l.gates) > 0 && !l.fromHook {
		l.Reject(s, "it is the question of one hook: put it into the [[gate]] table of that hook")
	}
	if s := l.Of(&l.shared.Roster); s.IsGiven() && len(l.gates) > 0 &&
		!slices.ContainsFunc(l.gates, (*section).isStrict) && !l.incomplete {
		l.Reject(s, "no gate has a policy with a roster: set policy = %q or %q, or leave it out", usual.PolicyRing,
			usual.PolicyTree)
	}
	for _, g := range l.gates {
		g.check(l.trustHook)
		l.checkPolicy(g)
		l.checkFleetLock(g)
		l.Agent.Gates = append(l.Agent.Gates, g.config())
	}
	l.checkTogether()
}

// checkFleetLock checks where the programs that reboot this host ask.
func (l *Layers) checkFleetLock(g *section) {
	at, group := g.Of(&g.FleetLock), g.Of(&g.FleetLockGroup)
	if !at.IsSet() {
		if group.IsSet() {
			g.Reject(group, "nobody can ask: set fleetlock, as in fleetlock = \"127.0.0.1:9090\", or leave it out")
		}
		return
	}
	first := l.gates[slices.IndexFunc(l.gates, func(o *section) bool { return o.FleetLock == g.FleetLock })]
	if err := fleetlock.CheckAddress(g.FleetLock); err != nil {
		g.Reject(at, "%s", err)
	} else if first != g {
		g.Reject(at, "%s has the same: each gate needs a port of its own", first.title())
	}
	if g.Config.Keep == 0 && !g.Of(&g.Config.Keep).Broken {
		g.Reject(at, "a host that reboots needs a grant that outlives it: set keep, as in keep = \"15m\"")
	}
	if err := fleetlock.CheckGroup(cmp.Or(g.FleetLockGroup, g.Name)); err != nil && g.Name != "" {
		if !group.IsSet() {
			group = at
		}
		g.Reject(group, "%s: set fleetlock_group", err)
	}
}

// checkFile refuses a command from a file that other users can replace, because they could name another command there.
func checkFile(l *settings.Reading, h *settings.Setting) {
	file := h.Origin.Name
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return // a pipe has no place at which it could be replaced
	}
	if err := safepath.Check(file); err != nil {
		l.Reject(h, "others can name another %s in %s: %s; or set --trust-hook", h.Key, file, err)
	}
}

// checkCommand refuses a command that cannot be run, or that other users can replace.
func checkCommand(l *settings.Reading, s *settings.Setting, argv []string, trustHook bool) {
	if !s.IsSet() {
		return
	}
	if err := hook.Check(argv, trustHook); err != nil {
		l.Reject(s, "%s", err)
	} else if s.Origin.Layer == settings.InFile && !trustHook {
		checkFile(l, s)
	}
}

// checkSources checks the programs that say who is in the fleet.
func (l *Layers) checkSources() {
	join := l.Of(&l.Agent.Join)
	for _, target := range l.Agent.Join {
		command, is := strings.CutPrefix(target, peers.ProgramPrefix)
		if !is {
			continue
		}
		argv, err := hook.Split(command)
		if err != nil || len(argv) == 0 {
			l.Reject(join, "%q names no program: write it as in exec:/usr/local/bin/members", target)
			continue
		}
		checkCommand(&l.Reading, join, argv, l.trustHook)
	}
}

// checkEvents checks the receivers of events.
func (l *Layers) checkEvents() {
	c := &l.Agent.Events
	checkCommand(&l.Reading, l.Of(&c.Command), c.Command, l.trustHook)
	url, file, body, only := l.Of(&c.Webhook), l.Of(&c.WebhookFile), l.Of(&c.Body), l.Of(&c.Only)
	switch {
	case url.IsSet() && file.IsSet():
		l.Reject(file, "webhook names a URL, too: leave one of them out")
	case url.IsSet():
		if err := events.CheckURL(c.Webhook); err != nil {
			l.Reject(url, "%s", err)
		}
	case file.IsSet():
		if err := events.CheckURLFile(c.WebhookFile); err != nil {
			l.Reject(file, "%s", err)
		}
	case body.IsSet():
		l.Reject(body, "it has no effect without webhook or webhook_file")
	}
	if body.IsSet() {
		if err := events.CheckBody(c.Body); err != nil {
			l.Reject(body, "%s", err)
		}
	}
	for _, kind := range c.Only {
		if only.IsSet() && !slices.Contains(events.Kinds(), kind) {
			l.Reject(only, "there is no event %q: %s", kind,
				settings.DidYouMean(kind, events.Kinds(), "choose among "+strings.Join(events.Kinds(), ", ")))
		}
	}
}

// check checks the hook, and compares the constants. A constant of 0s, which a gate without a hook may have, is no
// bound.
func (g *section) check(trustHook bool) {
	h, r := g.Of(&g.Hook), g.Of(&g.Ready)
	checkCommand(&g.Reading, h, g.Hook, trustHook)
	checkCommand(&g.Reading, r, g.Ready, trustHook)
	checkCommand(&g.Reading, g.Of(&g.Aftercare.After), g.Aftercare.After, trustHook)
	if g.MinInterval > 0 {
		g.AtLeast(&g.MinInterval, &g.Aftercare.Soak, "a host would be due again before its soak is over")
	}
	if r.IsSet() && h.IsFree() {
		g.Reject(r, "it says whether a hook is needed, and this gate has none: leave it out, or let the callers ask "+
			"for themselves")
	}
	if s := g.Of(&g.Stages.First); s.IsSet() {
		g.checkStages(s, h.IsFree())
	}
	switch s := g.Of(&g.once); {
	case !g.once:
	case h.IsFree():
		g.Reject(s, "it is about a hook, and this gate has none: leave it out, or let the callers ask for themselves")
	case g.mostSlots() > 1:
		g.Object("%s and %s: several hosts would run in one interval", s, g.Of(&g.slots))
	}
	for _, at := range []*time.Duration{&g.MinInterval, &g.HookTimeout} {
		if s := g.Of(at); !h.IsFree() && s.IsGiven() && s.IsSet() && *at == 0 {
			g.Reject(s, "\"0s\" must be greater than 0 in a gate with a hook: leave it out for the default")
		}
	}
	if s := g.Of(&g.RetryAfter); h.IsFree() && s.IsSet() && s.Scope != "" && g.RetryAfter > 0 {
		g.Reject(s, "it repeats a hook that has failed, and this gate has none: leave it out, or let the callers "+
			"repeat their commands")
	}
	if g.isStrict() {
		return
	}
	g.AtLeast(&g.MaxInterval, &g.MinInterval, "every host would take the token for lost between two runs")
	if g.isCall() {
		return
	}
	if g.MinInterval > 0 {
		g.AtLeast(&g.MinInterval, &g.Op, "a host would be due again before it has finished")
	}
	if g.HookTimeout > 0 && g.Of(&g.HookTimeout).IsGiven() { // otherwise it is min_interval, which has been compared
		g.AtLeast(&g.HookTimeout, &g.Op, "a run of typical length would be stopped")
	}
}

// checkStages checks the patterns of the stages.
func (g *section) checkStages(s *settings.Setting, onDemand bool) {
	if onDemand {
		g.Reject(s, "it orders the runs of a hook, and this gate has none: leave it out")
	}
	if n := len(g.Stages.First); n > stages.MostStages {
		g.Reject(s, "%d patterns, and at most %d are allowed", n, stages.MostStages)
	}
	for i, pattern := range g.Stages.First {
		if err := stages.Check(pattern); err != nil {
			g.Reject(s, "the pattern %q: %s", pattern, err)
		} else if slices.Contains(g.Stages.First[:i], pattern) {
			g.Reject(s, "the pattern %q is there twice", pattern)
		}
	}
}

package config

import (
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/safepath"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/agent/trust"
	"github.com/wanderd/wanderd/cmd/wanderd/settings"
	"github.com/wanderd/wanderd/membership"
)

// Check completes what an agent is told if all of it was understood and fits together, and returns a [settings.Invalid]
// otherwise. It looks at hooks and reads the secret.
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
	l.checkAdvertise()
	l.readSecret()
	l.checkTrust()
	l.Agent.Drain = l.stop == "drain"
	l.Agent.Alone = map[string]agent.Alone{"auto": agent.AloneAuto, "run": agent.AloneRun, "wait": agent.AloneWait}[l.alone]
	return l.Err()
}

func (l *Layers) checkGates() {
	top := l.Of(&l.shared.Hook)
	switch {
	case len(l.gates) == 0 && !l.incomplete:
		l.Complain("nothing to gate: pass --hook ./sync.sh, or a file with [[gate]] tables with --config; a gate without a hook takes commands")
	case len(l.gates) > 0 && !l.fromHook && top.IsSet():
		l.Complain("%s makes the gate %q, and %s describes gates too: "+
			"put the hook into a [[gate]] table with the name %[2]q, or drop the tables", top.About(), defaultGate, l.gates[0].origin)
	case len(l.gates) > membership.MaxGates:
		l.Complain("%s: this is gate %d, and an agent can have %d: run a second agent for the rest",
			l.gates[membership.MaxGates].origin, membership.MaxGates+1, membership.MaxGates)
	}
	if s := l.Of(&l.shared.Ready); s.IsSet() && len(l.gates) > 0 && !l.fromHook {
		l.Reject(s, "it is the question of one hook: put it into the [[gate]] table of that hook")
	}
	if s := l.Of(&l.shared.Roster); s.IsGiven() && len(l.gates) > 0 && !slices.ContainsFunc(l.gates, (*gate).isStrict) && !l.incomplete {
		l.Reject(s, "no gate has a policy with a roster: set policy = %q or %q, or leave it out", PolicyRing, PolicyTree)
	}
	for _, g := range l.gates {
		g.check(l.trustHook)
		l.checkStrict(g)
		l.Agent.Gates = append(l.Agent.Gates, g.config())
	}
}

// checkFile refuses a command from a file that others can replace: they could name another one there.
func (g *gate) checkFile(h *settings.Setting) {
	file := h.Origin.Name
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return // a pipe has no place in which it could be replaced
	}
	if err := safepath.Check(file); err != nil {
		g.Reject(h, "others can name another %s in %s: %s; or set --trust-hook", h.Key, file, err)
	}
}

// checkCommand refuses a command that cannot be run, or that others can replace.
func (g *gate) checkCommand(s *settings.Setting, argv []string, trustHook bool) {
	if !s.IsSet() {
		return
	}
	if err := hook.Check(argv, trustHook); err != nil {
		g.Reject(s, "%s", err)
	} else if s.Origin.Layer == settings.InFile && !trustHook {
		g.checkFile(s)
	}
}

// check looks at the hook, and compares the constants. What is 0s, as it may be without a hook, is no bound.
func (g *gate) check(trustHook bool) {
	h, r := g.Of(&g.Hook), g.Of(&g.Ready)
	g.checkCommand(h, g.Hook, trustHook)
	g.checkCommand(r, g.Ready, trustHook)
	if r.IsSet() && h.IsFree() {
		g.Reject(r, "it says whether a hook is needed, and this gate has none: leave it out, or let the callers ask for themselves")
	}
	for _, at := range []*time.Duration{&g.MinInterval, &g.HookTimeout} {
		if s := g.Of(at); !h.IsFree() && s.IsGiven() && s.IsSet() && *at == 0 {
			g.Reject(s, "\"0s\" must be greater than 0 in a gate with a hook: leave it out for the default")
		}
	}
	if s := g.Of(&g.RetryAfter); h.IsFree() && s.IsSet() && s.Scope != "" && g.RetryAfter > 0 {
		g.Reject(s, "it repeats a hook that has failed, and this gate has none: leave it out, or let the callers repeat their commands")
	}
	if g.isStrict() {
		return
	}
	if g.MinInterval > 0 {
		g.AtLeast(&g.MinInterval, &g.Op, "a host would be due again before it has finished")
	}
	g.AtLeast(&g.MaxInterval, &g.MinInterval, "every host would take the token for lost between two runs")
	if g.HookTimeout > 0 && g.Of(&g.HookTimeout).IsGiven() { // else it is min_interval, which has been compared
		g.AtLeast(&g.HookTimeout, &g.Op, "a run of typical length would be stopped")
	}
}

func (l *Layers) checkName() {
	s, name := l.Of(&l.Agent.Name), l.Agent.Name
	switch {
	case s.Broken:
	case len(name) > membership.MaxName:
		l.Reject(s, "the name has %d bytes, and %d are allowed: choose a shorter one with --name", len(name), membership.MaxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		l.Reject(s, "the name %q has characters that cannot be printed: choose another one with --name", name)
	}
}

func (l *Layers) readSecret() {
	s := l.Of(&l.secretFile)
	if !s.IsSet() {
		return
	}
	secrets, err := statedir.ReadSecretFile(l.secretFile)
	if err != nil {
		l.Reject(s, "%s", err)
		return
	}
	l.Agent.Secret, l.Agent.SecretFile = &secrets[0], l.secretFile
	if l.Agent.Insecure {
		l.warn("%s changes nothing: there is a secret (%s)", l.Of(&l.Agent.Insecure).About(), s.Origin)
	}
}

// checkTrust reads the known hosts, if they say who may take part.
func (l *Layers) checkTrust() {
	s := l.Of(&l.knownHosts)
	switch {
	case s.Broken || l.Of(&l.trust).Broken:
	case l.trust == trustSecret && s.IsSet():
		l.Reject(s, "it has no effect unless trust is %s", trustKnownHosts)
	case l.trust == trustSecret:
	case !s.IsSet():
		l.Reject(l.Of(&l.trust), "%q needs a file: name it with --known-hosts", trustKnownHosts)
	default:
		if _, err := trust.Open(l.knownHosts); err != nil {
			l.Reject(s, "%s", err)
			return
		}
		l.Agent.KnownHosts = l.knownHosts
	}
}

// checkAdvertise refuses an address on which nothing listens.
func (l *Layers) checkAdvertise() {
	bind, advertise := l.Agent.Bind, l.Agent.Advertise
	if !advertise.IsValid() || bind.Port() == 0 { // nobody knows the port yet
		return
	}
	own, err := membership.OwnAddrs()
	if err != nil {
		own = nil // Then only the kind of the address can be compared.
	}
	if err := membership.CheckAdvertised(bind, advertise, own); err != nil {
		l.Reject(l.Of(&l.advertise), "%s", err)
	}
}

// checkNetwork holds the rule that an agent without a secret binds to loopback only, unless it is told insecure.
func (l *Layers) checkNetwork() {
	bind, address := l.Of(&l.bind), l.Agent.Bind
	if bind.Broken {
		return
	}
	remedy := "give every host the same file with --secret-file (\"wanderd keygen --secret\" makes one), or say --insecure"
	if !address.Addr().IsLoopback() {
		if l.Of(&l.secretFile).IsFree() && !l.Agent.Insecure && !l.Of(&l.Agent.Insecure).Broken {
			l.Reject(bind, "without a secret the agent binds to loopback only, not to %s: %s", address, remedy)
		}
		return
	}
	if bind.Origin.Layer != settings.Default {
		remedy = "bind to an address that others can reach"
	}
	join := l.Of(&l.Agent.Join)
	for _, target := range l.Agent.Join {
		host, _, _ := net.SplitHostPort(target)
		switch addr, err := netip.ParseAddr(host); {
		case err == nil && addr.IsLoopback(), host == "localhost":
		case err == nil:
			l.Reject(join, "%s cannot be reached from %s, which this agent is bound to (%s): %s", target, address, bind.Origin, remedy)
		default:
			l.warn("%s: %s cannot be reached from %s, which this agent is bound to (%s), unless it is this host: %s",
				join.About(), target, address, bind.Origin, remedy)
		}
	}
}

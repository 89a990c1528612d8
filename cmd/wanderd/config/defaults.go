package config

import (
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/membership/peers"
)

// setDefaults sets the values that no layer has set and a rule makes, each after the values on which it depends, and
// completes addresses.
func (l *Layers) setDefaults() {
	a := &l.Agent
	if s := l.Of(&a.Name); s.IsFree() {
		host, err := os.Hostname()
		if err != nil || host == "" {
			l.Complain("the name of this host is unknown (%v): give one with --name", err)
		}
		a.Name = host
		l.ByRule(&a.Name, s.Rule)
	}
	dir := l.Of(&a.StateDir)
	if dir.IsFree() {
		var err error
		l.ByRule(&a.StateDir, "")
		if a.StateDir, err = statedir.DefaultDir(); err != nil {
			l.Complain("%s", err)
			dir.Broken = true
		}
	}
	if s := l.Of(&a.Socket); s.IsFree() {
		a.Socket = filepath.Join(a.StateDir, socketName)
		l.ByRule(&a.Socket, "in state_dir")
		s.Broken = dir.Broken
	}
	l.completeAddresses()
	if ask := &l.shared.AskBeforeRun; l.Of(ask).IsFree() {
		*ask = l.trust == trustKnownHosts
		l.ByRule(ask, "with trust = "+l.trust)
	}
	defaultTimes(&l.Reading, &l.shared, true)
}

// completeAddresses adds to every address the parts that were left out.
func (l *Layers) completeAddresses() {
	otherwise, rule := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), peers.DefaultPort), "without a secret"
	everywhere := netip.AddrPortFrom(netip.IPv6Unspecified(), peers.DefaultPort)
	switch {
	case !l.Of(&l.secretFile).IsFree():
		otherwise, rule = everywhere, "with a secret"
	case l.Agent.Insecure:
		otherwise, rule = everywhere, "insecure"
	}
	if l.Of(&l.bind).IsFree() {
		l.bind = otherwise.String()
		l.ByRule(&l.bind, rule)
	}
	l.complete(&l.bind, &l.Agent.Bind, func(text string) (netip.AddrPort, error) { return parseBind(text, otherwise) })
	l.complete(&l.advertise, &l.Agent.Advertise, func(text string) (netip.AddrPort, error) {
		return parseAdvertise(text, l.Agent.Bind.Port())
	})
	join := l.Agent.Join
	l.Agent.Join = nil
	for _, text := range join {
		target, err := parseJoin(text)
		if err != nil {
			l.Reject(l.Of(&l.Agent.Join), "cannot join %q: %s", text, err)
			continue
		}
		l.Agent.Join = append(l.Agent.Join, target)
	}
}

func (l *Layers) complete(text *string, at *netip.AddrPort, parse func(string) (netip.AddrPort, error)) {
	s := l.Of(text)
	if !s.IsSet() {
		return
	}
	addr, err := parse(*text)
	if err != nil {
		l.Reject(s, "%q: %s", *text, err)
		return
	}
	*text, *at = addr.String(), addr
}

// leastRetryAfter is the least default of retry_after, unless min_interval is less.
const leastRetryAfter = time.Minute

// defaultTimes is applied to every gate separately, because hook_timeout and retry_after depend on the gate's own
// min_interval, and all depend on whether it has a hook. A command runs because its caller waits for it, and takes as
// long as it needs: so a gate without a hook delays no command and ends none.
func defaultTimes(r *settings.Reading, g *terms, hasHook bool) {
	otherwise := func(at *time.Duration, value time.Duration, rule string) {
		if !r.Of(at).IsGiven() {
			*at = value
			r.ByRule(at, rule)
		}
	}
	if !hasHook {
		otherwise(&g.MinInterval, 0, "without a hook")
		otherwise(&g.HookTimeout, 0, "without a hook")
		otherwise(&g.RetryAfter, 0, "without a hook")
		return
	}
	otherwise(&g.RetryAfter, min(max(g.MinInterval/10, leastRetryAfter), g.MinInterval), "min_interval / 10")
	otherwise(&g.HookTimeout, g.MinInterval, "min_interval")
	for _, at := range []*time.Duration{&g.HookTimeout, &g.RetryAfter} {
		if follows := r.Of(at); !follows.IsGiven() {
			follows.Broken = r.Of(&g.MinInterval).Broken
		}
	}
}

package config

import (
	"net"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/agent/trust"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/membership/identity"
	"github.com/wanderd/wanderd/membership/peers"
)

func (l *Layers) checkName() {
	s, name := l.Of(&l.Agent.Name), l.Agent.Name
	switch {
	case s.Broken:
	case len(name) > identity.MaxName:
		l.Reject(s, "the name has %d bytes, and %d are allowed: choose a shorter one with --name", len(name),
			identity.MaxName)
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

// checkTrust reads the known hosts, if they decide who may take part.
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
	if !advertise.IsValid() || bind.Port() == 0 { // the port is not known yet
		return
	}
	own, _ := peers.OwnAddrs() // Without them, only the kind of the address can be compared.
	if err := peers.CheckAdvertised(bind, advertise, own); err != nil {
		l.Reject(l.Of(&l.advertise), "%s", err)
	}
}

// checkNetwork enforces that an agent without a secret binds only to loopback, unless it is told insecure.
func (l *Layers) checkNetwork() {
	bind, address := l.Of(&l.bind), l.Agent.Bind
	if bind.Broken {
		return
	}
	remedy := "give every host the same file with --secret-file (\"wanderd keygen --secret\" makes one), or say " +
		"--insecure"
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
		if peers.IsSource(target) {
			continue
		}
		host, _, _ := net.SplitHostPort(target)
		switch addr, err := netip.ParseAddr(host); {
		case err == nil && addr.IsLoopback(), host == "localhost":
		case err == nil:
			l.Reject(join, "%s cannot be reached from %s, which this agent is bound to (%s): %s", target, address,
				bind.Origin, remedy)
		default:
			l.warn("%s: %s cannot be reached from %s, which this agent is bound to (%s), unless it is this host: %s",
				join.About(), target, address, bind.Origin, remedy)
		}
	}
}

package config

import (
	"net"
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/wire"
)

func (c *checker) name() {
	v, s := c.top[Name], Name.Setting()
	switch {
	case !v.Set:
	case len(v.Text) > membership.MaxName:
		c.bad.add("%s: the name has %d bytes, and %d are allowed: choose a shorter one with --%s",
			v.Origin.of(s), len(v.Text), membership.MaxName, s.Flag())
	case !utf8.ValidString(v.Text) || strings.ContainsFunc(v.Text, func(r rune) bool { return !unicode.IsPrint(r) }):
		c.bad.add("%s: the name %q has characters that cannot be printed: choose another one with --%s",
			v.Origin.of(s), v.Text, s.Flag())
	}
}

func (c *checker) socket() {
	if v := c.top[Socket]; v.Set && !v.broken {
		if err := control.CheckPath(v.Text); err != nil {
			c.bad.add("%s", err)
		}
	}
}

func (c *checker) secret() *wire.Secret {
	v, s := c.top[SecretFile], SecretFile.Setting()
	if !v.Set {
		return nil
	}
	secret, err := statedir.ReadSecretFile(v.Text)
	if err != nil {
		c.bad.add("%s: %s", v.Origin.of(s), err)
		return nil
	}
	if insecure := c.top[Insecure]; insecure.Bool {
		c.warn("%s changes nothing: there is a secret (%s)", insecure.Origin.of(Insecure.Setting()), v.Origin)
	}
	return &secret
}

// advertise refuses an address on which nothing listens.
func (c *checker) advertise() {
	bind, advertise := c.top[Bind], c.top[Advertise]
	if !bind.Set || !advertise.Set {
		return
	}
	own, err := membership.OwnAddrs()
	if err != nil {
		own = nil // Then only the kind of the address can be compared.
	}
	bound, told := netip.MustParseAddrPort(bind.Text), netip.MustParseAddrPort(advertise.Text)
	if bound.Port() == 0 {
		return // Nobody knows yet.
	}
	if err := membership.CheckAdvertised(bound, told, own); err != nil {
		c.bad.add("%s: %s", advertise.Origin.of(Advertise.Setting()), err)
	}
}

// network holds the rule that an agent without a secret binds to loopback only, unless it is told insecure.
func (c *checker) network() {
	bind, secret := c.top[Bind], c.top[SecretFile]
	if !bind.Set {
		return
	}
	remedy := "give every host the same file with --" + SecretFile.Setting().Flag() +
		" (\"wanderd keygen --secret\" makes one), or say --" + Insecure.Setting().Flag()
	isLoopback := netip.MustParseAddrPort(bind.Text).Addr().IsLoopback()
	if !isLoopback && !secret.Set && !secret.broken && !c.top[Insecure].Bool && !c.top[Insecure].broken {
		c.bad.add("%s: without a secret the agent binds to loopback only, not to %s: %s",
			bind.Origin.of(Bind.Setting()), bind.Text, remedy)
	}
	if !isLoopback {
		return
	}
	if bind.Origin.Layer != Default {
		remedy = "bind to an address that others can reach"
	}
	for _, target := range c.top[Join].List {
		host, _, _ := net.SplitHostPort(target)
		switch addr, err := netip.ParseAddr(host); {
		case err == nil && addr.IsLoopback(), host == "localhost":
		case err == nil:
			c.bad.add("%s: %s cannot be reached from %s, which this agent is bound to (%s): %s",
				c.top[Join].Origin.of(Join.Setting()), target, bind.Text, bind.Origin, remedy)
		default:
			c.warn("%s: %s cannot be reached from %s, which this agent is bound to (%s), unless it is this host: %s",
				c.top[Join].Origin.of(Join.Setting()), target, bind.Text, bind.Origin, remedy)
		}
	}
}

package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/beside"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/trust"
	"github.com/wanderd/wanderd/membership"
)

const (
	// trustEvery is how often the agent looks at the files of those it trusts: a revocation is in force within that
	// time.
	trustEvery = time.Second
	// gossipRefill and gossipBurst are the allowance of a source address for datagrams of gossip whose signature is
	// checked: a member sends some twenty a second.
	gossipRefill = time.Second / 500
	gossipBurst  = 500
)

// openTrust reads the known hosts, their certificates and this member's own certificate. It warns if the others cannot
// trust this member by the same files.
func (c *credentials) openTrust(certificate string) (err error) {
	c.certificate = trust.NewCertificate(certificate)
	if _, err := c.certificate.Refresh(); err != nil {
		return err
	}
	if c.cfg.KnownHosts == "" {
		return nil
	}
	if c.known, err = trust.Open(c.cfg.KnownHosts); err != nil {
		return err
	}
	c.judgeMyself()
	return nil
}

// judgeMyself warns if this member is not trusted by its own file.
func (c *credentials) judgeMyself() {
	public := c.key.Public().(ed25519.PublicKey)
	_, err := c.known.Check(c.cfg.Name, public, c.certificate.Bytes())
	c.mistrusted.Store(nil)
	if err == nil {
		return
	}
	c.mistrusted.Store(&mistrust{err, time.Now()})
	line, _ := trust.Line(c.cfg.Name, public)
	c.log.Warn().AnErr("reason", err).Str("path", c.cfg.KnownHosts).Str("line", line).
		Msg("this host's own key is not trusted by its known hosts; hosts with the same file do not accept it: " +
			"add the line on all hosts, or sign the key")
}

// mistrust is why this member is not trusted by its own known hosts.
type mistrust struct {
	why error
	at  time.Time
}

// warnings names the hosts without a line in the known hosts, this one first, with the line that each of them lacks.
func (c *credentials) warnings(now time.Time) (list []control.Warning) {
	if m := c.mistrusted.Load(); m != nil {
		text := "this host's own key is not trusted by its known hosts (" + m.why.Error() + "): " +
			"hosts with the same file do not accept it"
		list = append(list, control.Warning{
			Text: text + lineFor(c.cfg.Name, c.key.Public().(ed25519.PublicKey), m.why),
		})
	}
	for _, x := range c.members.Outsiders(now.Add(-suspectFor)) {
		list = append(list, control.Warning{
			Text: fmt.Sprintf("%s (%s) has the secret, and is not trusted: %s", x.Name, x.ID.Short(), x.Why) +
				lineFor(x.Name, x.Key, x.Why),
			Last: x.At, From: x.Addr.String(),
		})
	}
	return list
}

// lineFor returns the remedy for a host that is not trusted: the line to add, if nothing else is missing.
func lineFor(name string, key ed25519.PublicKey, why error) string {
	line, err := trust.Line(name, key)
	if _, missing := errors.AsType[*trust.NoLineError](why); !missing || err != nil {
		return ""
	}
	return "; to accept it, add to the known hosts of all hosts: " + strings.TrimSpace(line)
}

// trusted decides who may take part, for the membership; nil means everybody with the secret.
func (c *credentials) trusted() membership.Trust {
	if c.known == nil {
		return nil // not a Trust that holds a nil *trust.File
	}
	return c.known
}

// keep reads the secret and the files of trust again when they have changed, until ctx is done. A file that cannot be
// read changes nothing.
func (c *credentials) keep(ctx context.Context) {
	for beside.Sleep(ctx, trustEvery) {
		c.refreshSecrets()
		c.refreshTrust()
	}
}

func (c *credentials) refreshTrust() {
	renewed, err := c.certificate.Refresh()
	if err != nil && !c.uncertified {
		c.log.Error().Err(err).Msg("the certificate cannot be read; the one before stays in use")
	}
	c.uncertified = err != nil
	if c.known == nil {
		return
	}
	changed, err := c.known.Refresh()
	switch {
	case err != nil && !c.unreadable:
		c.log.Error().Err(err).Msg("the known hosts cannot be read; what they said before stays in force")
	case changed:
		c.log.Info().Str("path", c.cfg.KnownHosts).Msg("read the known hosts again")
	}
	c.unreadable = err != nil
	if changed || renewed {
		c.judgeMyself()
	}
	c.members.Reconsider(changed) // needed also when a certificate has expired
}

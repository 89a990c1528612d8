package agent

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/wanderd/wanderd/agent/beside"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/trust"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/policy"
)

const (
	// trustEvery is how often the files are looked at that say who is trusted: a revocation is in force within that.
	trustEvery = time.Second
	// gossipRefill and gossipBurst are the allowance of a source address for datagrams of gossip whose signature is checked: a member sends some
	// twenty in a second.
	gossipRefill = time.Second / 500
	gossipBurst  = 500
)

// openTrust reads the files that say who is trusted, and this member's own certificate. It warns if the others cannot trust this member by the same
// files.
func (a *Agent) openTrust() (err error) {
	a.certificate = trust.NewCertificate(a.state.CertificatePath())
	if _, err := a.certificate.Refresh(); err != nil {
		return err
	}
	if a.cfg.KnownHosts == "" {
		return nil
	}
	if a.known, err = trust.Open(a.cfg.KnownHosts); err != nil {
		return err
	}
	a.judgeMyself()
	return nil
}

// judgeMyself warns if this member is not trusted by its own file.
func (a *Agent) judgeMyself() {
	public := a.key.Public().(ed25519.PublicKey)
	_, err := a.known.Check(a.cfg.Name, public, a.certificate.Bytes())
	a.mistrusted.Store(nil)
	if err == nil {
		return
	}
	a.mistrusted.Store(&mistrust{err, time.Now()})
	line, _ := trust.Line(a.cfg.Name, public)
	a.log.Warn().AnErr("reason", err).Str("path", a.cfg.KnownHosts).Str("line", line).
		Msg("this host's own key is not trusted by its known hosts; hosts with the same file do not accept it: add the line on all hosts, or sign the key")
}

// mistrust is why this member is not trusted by its own known hosts.
type mistrust struct {
	why error
	at  time.Time
}

// trustWarnings names the hosts without a line in the known hosts, first this one, with the line that they lack.
func (a *Agent) trustWarnings(now time.Time) (list []control.Warning) {
	if m := a.mistrusted.Load(); m != nil {
		text := "this host's own key is not trusted by its known hosts (" + m.why.Error() + "): hosts with the same file do not accept it"
		list = append(list, control.Warning{Text: text + lineFor(a.cfg.Name, a.key.Public().(ed25519.PublicKey), m.why)})
	}
	for _, x := range a.members.Outsiders(now.Add(-suspectFor)) {
		list = append(list, control.Warning{
			Text: fmt.Sprintf("%s (%s) has the secret, and is not trusted: %s", x.Name, x.ID.Short(), x.Why) + lineFor(x.Name, x.Key, x.Why),
			Last: x.At, From: x.Addr.String(),
		})
	}
	return list
}

// lineFor is the remedy for a host that is not trusted: to add a line, if that is all that is missing.
func lineFor(name string, key ed25519.PublicKey, why error) string {
	line, err := trust.Line(name, key)
	if _, missing := errors.AsType[*trust.NoLineError](why); !missing || err != nil {
		return ""
	}
	return "; to accept it, add to the known hosts of all hosts: " + strings.TrimSpace(line)
}

// trusted is who may take part, for the membership; nil is everybody who has the secret.
func (a *Agent) trusted() membership.Trust {
	if a.known == nil {
		return nil // not a Trust that holds a nil *trust.File
	}
	return a.known
}

// admitsGossip reports whether the signature of one more datagram of gossip from an address may be checked. It is for the reader.
func (a *Agent) admitsGossip(from netip.Addr) bool {
	return a.gossiping.admit(from, policy.Time(time.Since(a.started)))
}

// keepTrust reads the secret and the files again when they have changed, until ctx is done. A file that cannot be read changes nothing.
func (a *Agent) keepTrust(ctx context.Context) {
	for beside.Sleep(ctx, trustEvery) {
		a.refreshSecrets()
		a.refreshTrust()
	}
}

func (a *Agent) refreshTrust() {
	renewed, err := a.certificate.Refresh()
	if err != nil && !a.uncertified {
		a.log.Error().Err(err).Msg("the certificate cannot be read; the one before stays in use")
	}
	a.uncertified = err != nil
	if a.known == nil {
		return
	}
	changed, err := a.known.Refresh()
	switch {
	case err != nil && !a.unreadable:
		a.log.Error().Err(err).Msg("the known hosts cannot be read; what they said before stays in force")
	case changed:
		a.log.Info().Str("path", a.cfg.KnownHosts).Msg("read the known hosts again")
	}
	a.unreadable = err != nil
	if changed || renewed {
		a.judgeMyself()
	}
	a.members.Reconsider(changed) // also if a certificate has expired
}

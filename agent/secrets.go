package agent

import (
	"crypto/ed25519"
	"crypto/rand"
	"slices"
	"sync/atomic"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/changed"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/agent/trust"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/wire"
)

// A fleet changes its secret while it works, in three steps on all hosts: a second line in the secret's file, with the
// new one, opens; the lines change places; the second, now the old one, goes. At each step every member opens what
// every other seals.

// credentials are by what this member is known to the others, and they to it.
type credentials struct {
	cfg *Config
	log zerolog.Logger
	key ed25519.PrivateKey
	// codec seals with the secrets in use, the sealing one first; only keep uses secrets after the start.
	codec   atomic.Pointer[wire.Codec]
	secrets []wire.Secret
	// twoSecrets says that there are two.
	twoSecrets atomic.Bool
	// secretFile tells when the secret is to be read again, secretLost that it could not be read last.
	secretFile changed.File
	secretLost bool
	// known is nil if everybody may take part who has the secret. unreadable says that its file could not be read last,
	// uncertified that the certificate's could not; only keep uses them.
	known       *trust.File
	mistrusted  atomic.Pointer[mistrust]
	certificate *trust.Certificate
	unreadable  bool
	uncertified bool
	// members is who has to know of a change.
	members *membership.Membership
}

func (c *credentials) openSecrets() error {
	switch {
	case c.cfg.Secret == nil:
		return c.useSecrets(nil)
	case c.cfg.SecretFile == "":
		return c.useSecrets([]wire.Secret{*c.cfg.Secret})
	}
	c.secretFile = changed.File{Path: c.cfg.SecretFile}
	secrets, err := statedir.ReadSecretFile(c.cfg.SecretFile)
	if err != nil {
		return err
	}
	return c.useSecrets(secrets)
}

// useSecrets makes the codec of the agent's messages anew.
func (c *credentials) useSecrets(secrets []wire.Secret) error {
	codec, err := wire.NewCodec(c.key, rand.Reader, secrets...)
	if err != nil {
		return err
	}
	c.secrets = secrets
	c.codec.Store(codec)
	c.twoSecrets.Store(len(secrets) > 1)
	return nil
}

// refreshSecrets reads the secrets again if their file has changed. A file that cannot be read changes nothing.
func (c *credentials) refreshSecrets() {
	if c.cfg.SecretFile == "" || !c.secretFile.Look() && !c.secretLost {
		return
	}
	secrets, err := statedir.ReadSecretFile(c.cfg.SecretFile)
	if err == nil && slices.Equal(secrets, c.secrets) {
		c.secretLost = false
		return
	}
	if err == nil {
		if err = c.useSecrets(secrets); err == nil {
			err = c.members.Rekey(secrets)
		}
	}
	switch {
	case err == nil:
		c.log.Info().Int("secrets", len(secrets)).Msg("read the fleet's secret again")
	case !c.secretLost:
		c.log.Error().Err(err).Msg("the fleet's secret cannot be read again; the one before stays in use")
	}
	c.secretLost = err != nil
}

// sealedBySecond names the members that seal with the second secret of this host's file.
func (a *Agent) sealedBySecond() (names []string) {
	for _, id := range a.members.Others() {
		if m, ok := a.view.Lookup(id); ok {
			names = append(names, m.Name)
		}
	}
	return names
}

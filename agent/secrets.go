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

// A fleet changes its secret while it works, in three steps, each on all hosts: the file gets the new secret as its
// second line, which only opens messages; the two lines change places; the second line, now the old secret, goes. At
// each step every member opens what every other member seals.

// credentials are how this member proves to the others that it belongs to the fleet, and how it judges them.
type credentials struct {
	cfg *Config
	log zerolog.Logger
	key ed25519.PrivateKey
	// codec seals and opens with the secrets in use, of which the first seals. After the start only keep uses secrets.
	codec   atomic.Pointer[wire.Codec]
	secrets []wire.Secret
	// twoSecrets is true while there are two secrets.
	twoSecrets atomic.Bool
	// secretFile tells when the secret has to be read again; secretLost is true if the last attempt to read it failed.
	secretFile changed.File
	secretLost bool
	// known is nil if everybody with the secret may take part. unreadable is true if the last attempt to read its file
	// failed, uncertified if that to read the certificate did; only keep uses the two.
	known       *trust.File
	mistrusted  atomic.Pointer[mistrust]
	certificate *trust.Certificate
	unreadable  bool
	uncertified bool
	// members is the membership, which has to know of a change.
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

// useSecrets replaces the codec of the agent's messages by one with these secrets.
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

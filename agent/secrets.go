package agent

import (
	"crypto/rand"
	"slices"

	"github.com/wanderd/wanderd/agent/changed"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/wire"
)

// A fleet changes its secret while it works, in three steps on all hosts: a second line in the secret's file, with the new one, opens; the
// lines change places; the second, now the old one, goes. At each step every member opens what every other seals.

func (a *Agent) openSecrets() error {
	switch {
	case a.cfg.Secret == nil:
		return a.useSecrets(nil)
	case a.cfg.SecretFile == "":
		return a.useSecrets([]wire.Secret{*a.cfg.Secret})
	}
	a.secretFile = changed.File{Path: a.cfg.SecretFile}
	secrets, err := statedir.ReadSecretFile(a.cfg.SecretFile)
	if err != nil {
		return err
	}
	return a.useSecrets(secrets)
}

// useSecrets makes the codec of the agent's messages anew.
func (a *Agent) useSecrets(secrets []wire.Secret) error {
	codec, err := wire.NewCodec(a.key, rand.Reader, secrets...)
	if err != nil {
		return err
	}
	a.secrets = secrets
	a.codec.Store(codec)
	a.twoSecrets.Store(len(secrets) > 1)
	return nil
}

// refreshSecrets reads the secrets again if their file has changed. A file that cannot be read changes nothing.
func (a *Agent) refreshSecrets() {
	if a.cfg.SecretFile == "" || !a.secretFile.Look() && !a.secretLost {
		return
	}
	secrets, err := statedir.ReadSecretFile(a.cfg.SecretFile)
	if err == nil && slices.Equal(secrets, a.secrets) {
		a.secretLost = false
		return
	}
	if err == nil {
		if err = a.useSecrets(secrets); err == nil {
			err = a.members.Rekey(secrets)
		}
	}
	switch {
	case err == nil:
		a.log.Info().Int("secrets", len(secrets)).Msg("read the fleet's secret again")
	case !a.secretLost:
		a.log.Error().Err(err).Msg("the fleet's secret cannot be read again; the one before stays in use")
	}
	a.secretLost = err != nil
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

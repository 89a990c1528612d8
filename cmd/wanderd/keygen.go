package main

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
	"github.com/wanderd/wanderd/cmd/wanderd/settings"
	"github.com/wanderd/wanderd/wire"
)

// secretName is the default file name of a new secret.
const secretName = "wanderd.secret"

func (p *program) newKeygenCommand() *cobra.Command {
	flags, secret := settings.Flags{}, false
	cmd := &cobra.Command{
		Use:   "keygen [PATH]",
		Short: "Make a node key, or the secret of a fleet",
		Long: `Make a node key, or with --secret the secret of a fleet. An existing file is never
overwritten; a missing directory is made.

A node key is a member's identity, an Ed25519 key in OpenSSH's format. Without PATH
it is made in the state directory, where the agent looks for it. You rarely need
this: an agent makes its own at its first start. Never give two hosts the same key.

A fleet secret is 32 random bytes in base64. Without PATH it is written to
` + secretName + ` in the working directory. Copy it to every host, readable by the
user of the agent only, and name it with --secret-file. Everybody who has it can join.`,
		Example: `  wanderd keygen --secret /etc/wanderd/secret
  wanderd keygen --state-dir /var/lib/wanderd`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case secret:
				return p.makeSecret(append(args, secretName)[0])
			case len(args) == 1:
				return p.makeNodeKey(args[0])
			}
			layers := config.Read(flags, p.environ)
			if err := layers.Err(); err != nil {
				return err
			}
			return p.makeNodeKeyIn(layers.Agent.StateDir)
		},
	}
	cmd.Flags().BoolVar(&secret, "secret", false, "Make the secret of a fleet.")
	flags.AddTo(cmd.Flags(), config.Table().Only("state_dir", "config"))
	return cmd
}

func (p *program) makeSecret(path string) error {
	if err := statedir.WriteNewSecretFile(path); err != nil {
		return err
	}
	_, err := fmt.Fprintf(p.stdout, "made a fleet secret: %s\n"+
		"Copy it to every host, mode 0600, and start each agent with --secret-file.\n", path)
	return err
}

func (p *program) makeNodeKey(path string) error {
	public, err := statedir.WriteNewNodeKey(path)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "made a node key: %s\nmember %s\n", path, wire.MemberIDOf(public))
	return err
}

// makeNodeKeyIn locks the directory, so it cannot interfere with an agent's first start.
func (p *program) makeNodeKeyIn(path string) (err error) {
	dir, err := statedir.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	key, created, err := dir.NodeKey()
	if err != nil {
		return err
	}
	member := wire.MemberIDOf(key.Public().(ed25519.PublicKey))
	if !created {
		return fmt.Errorf("%s already has a node key, that of member %s: it was not changed", path, member)
	}
	_, err = fmt.Fprintf(p.stdout, "made a node key in %s\nmember %s\n", path, member)
	return err
}

package main

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/agent/trust"
	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
	"github.com/wanderd/wanderd/wire"
)

// secretName is the default file name of a new secret.
const secretName = "wanderd.secret"

func (p *program) newKeygenCommand() *cobra.Command {
	flags, secret, show, authority := settings.Flags{}, false, false, ""
	cmd := &cobra.Command{
		Use:   "keygen [PATH]",
		Short: "Make a node key, or the secret of a fleet",
		Long: `Make a node key, or with --secret the secret of a fleet. An existing file is never
overwritten; a missing directory is made.

A node key is the identity of a member: an Ed25519 key in OpenSSH's format. Without
PATH it is made in the state directory, where the agent looks for it. You rarely need
this: an agent makes its own key at its first start. Never give two hosts the same key.
The output has two lines: the identity of the member, and the key's line for
--known-hosts. In a strict gate, "wanderd status" shows which identity belongs to which
name of the roster: compare them.

--show prints the line for --known-hosts of the key that is there, and nothing else; with
--config, if the file sets the name. "wanderd members --known-hosts" prints those of all
members.

--sign-with names the private key of a certificate authority for SSH. It signs the node
key for the member named --name. The certificate never expires. It is written beside the
key, and replaces an older one. An existing node key is signed as it is. The same can be
done with "ssh-keygen -s CA -h -I NAME -n NAME node_key.pub".

A fleet secret is 32 random bytes in base64. Without PATH it is written to
` + secretName + ` in the working directory. Copy it to every host, so that only the
agent's user can read it, and name it with --secret-file. Everybody who has it can join.`,
		Example: `  wanderd keygen --secret /etc/wanderd/secret
  wanderd keygen --state-dir /var/lib/wanderd
  wanderd keygen --show --config /etc/wanderd/wanderd.toml >>known_hosts
  wanderd keygen --sign-with ca_key --name host7 node_key`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case secret && authority != "", secret && show, show && authority != "":
				return cli.UsageError(errors.New("--secret, --show and --sign-with exclude each other"))
			case secret:
				return p.makeSecret(append(args, secretName)[0])
			}
			layers := config.Read(flags, p.environ)
			if err := layers.Err(); err != nil {
				return err
			}
			if show {
				return p.showNodeKey(append(args, statedir.NodeKeyPath(layers.Agent.StateDir))[0], layers.Agent.Name)
			}
			var signer []byte
			if authority != "" { // before this process acts as another user
				var err error
				if signer, err = statedir.ReadKeyFile(authority); err != nil {
					return err
				}
			}
			made := p.makeNodeKeyIn
			path := layers.Agent.StateDir
			if len(args) == 1 {
				made, path = p.makeNodeKey, args[0]
			}
			return made(path, layers.Agent.Name, signer)
		},
	}
	cmd.Flags().BoolVar(&secret, "secret", false, "Make the secret of a fleet.")
	cmd.Flags().
		BoolVar(&show, "show", false, "Print the line for --known-hosts of the key that is there, and make nothing.")
	cmd.Flags().
		StringVar(&authority, "sign-with", "", "The private key of a certificate authority, which signs the node key.")
	flags.AddTo(cmd.Flags(), config.Table().Only("name", "state_dir", "config"))
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

// makeNodeKey makes a key, or signs the existing one.
func (p *program) makeNodeKey(path, name string, authority []byte) error {
	key, err := statedir.ReadNodeKey(path)
	var public ed25519.PublicKey
	switch {
	case err == nil && authority == nil:
		return fmt.Errorf("%s is the node key of member %s already: it was not changed", path,
			wire.MemberIDOf(key.Public().(ed25519.PublicKey)))
	case err == nil:
		public = key.Public().(ed25519.PublicKey)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	default:
		if public, err = statedir.WriteNewNodeKey(path); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(p.stdout, "made a node key: %s\n", path); err != nil {
			return err
		}
	}
	return p.tellNodeKey(public, path, name, authority)
}

// makeNodeKeyIn locks the directory, so it cannot interfere with an agent's first start.
func (p *program) makeNodeKeyIn(path, name string, authority []byte) (err error) {
	if err := statedir.ActAsOwner(path); err != nil {
		return err
	}
	dir, err := statedir.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	return p.makeNodeKey(strings.TrimSuffix(dir.CertificatePath(), statedir.CertificateSuffix), name, authority)
}

// showNodeKey prints the line of an existing key.
func (p *program) showNodeKey(path, name string) error {
	key, err := statedir.ReadNodeKey(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: start the agent once, or make a key with \"wanderd keygen\"", err)
	}
	if err != nil {
		return err
	}
	line, err := trust.Line(name, key.Public().(ed25519.PublicKey))
	if err != nil {
		return err
	}
	_, err = io.WriteString(p.stdout, line)
	return err
}

// tellNodeKey signs a key, if there is an authority, and prints whose key it is.
func (p *program) tellNodeKey(public ed25519.PublicKey, path, name string, authority []byte) error {
	line, err := trust.Line(name, public)
	if err != nil {
		return err
	}
	if authority != nil {
		certificate, err := trust.Sign(authority, public, name)
		if err != nil {
			return fmt.Errorf("the certificate authority: %w", err)
		}
		path += statedir.CertificateSuffix
		if err := os.WriteFile(path, certificate, 0o644); err != nil {
			return err
		}
		line = fmt.Sprintf("signed as %s: %s\n", name, path)
	}
	_, err = fmt.Fprintf(p.stdout, "member %s\n%s", wire.MemberIDOf(public), line)
	return err
}

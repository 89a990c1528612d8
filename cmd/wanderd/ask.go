package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
	"github.com/wanderd/wanderd/cmd/wanderd/settings"
)

func (p *program) newStatusCommand() *cobra.Command {
	return newAskCommand(p, &cobra.Command{
		Use:   "status",
		Short: "Show the state of the agent on this host",
		Long: `Show the state of the agent on this host: for each gate, the last known holder of the
token, when this host ran last and may run next, and why it does not run now.

  holder        the last holder that this host knows: itself, the member that it guards,
                or the one to which it passed the token. The token may have gone on since.
  slot          the same for each token, in a gate that has several.
  guardians     the members that revive the token if this host, which holds it, dies.
  next run      a token that arrives before then only passes through.
  regenerates   when this host will consider the token lost and make a new one. The time
                grows by half with each token it makes, and shrinks with each that comes.
  load          op × members / min_interval / slots. Above 1 the fleet cannot keep up, and
                all members run later than min_interval.

It uses the agent's control socket: run it as the agent's user, or as root.`,
		Example: `  wanderd status
  wanderd status --socket /run/wanderd/wanderd.sock
  wanderd status --json | jq '.gates[] | select(.running)'`,
	}, (*control.Client).Status, func(w io.Writer, s control.Status) error { return writeStatus(w, s, p.now()) })
}

func (p *program) newMembersCommand() *cobra.Command {
	return newAskCommand(p, &cobra.Command{
		Use:   "members",
		Short: "List the members of the fleet",
		Long: `List the members of the fleet as the agent on this host sees them, with their
addresses, whether they are alive, and in which of this host's gates they take part.

Views differ for a while after a member joined or left. A crashed member is detected
after some seconds.`,
		Example: `  wanderd members
  wanderd members --json | jq -r '.members[] | select(.state != "alive") | .name'`,
	}, (*control.Client).Members, writeMembers)
}

// newAskCommand makes a command that requests a document from the agent and prints it.
func newAskCommand[T any](p *program, cmd *cobra.Command,
	ask func(*control.Client, context.Context) (T, error), write func(io.Writer, T) error,
) *cobra.Command {
	flags, asJSON := settings.Flags{}, false
	cmd.Args = noArgs
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		layers := config.Read(flags, p.environ)
		if err := layers.Err(); err != nil {
			return err
		}
		document, err := ask(control.Dial(layers.Agent.Socket), cmd.Context())
		if err != nil {
			return helpful(err)
		}
		if !asJSON {
			return write(p.stdout, document)
		}
		enc := json.NewEncoder(p.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(document)
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON, as the agent sent it.")
	flags.AddTo(cmd.Flags(), config.Table().Only("socket", "state_dir", "config"))
	return cmd
}

// helpful adds the remedy to the error of an agent that does not answer.
func helpful(err error) error {
	if errors.Is(err, control.ErrNoAgent) {
		err = fmt.Errorf("%w: start one with \"wanderd --hook COMMAND\", or name its socket with --socket", err)
	}
	return socketError{err}
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

func (p *program) newStatusCommand() *cobra.Command {
	var ofFleet, watch, check bool
	var gate string
	cmd := newAskCommand(p, &cobra.Command{
		Use:   "status",
		Short: "Show the state of the agent on this host, or of the fleet",
		Long: `Show the state of the agent on this host: for each gate, who holds the token and who runs
now, when this host ran last and may run next, and why it does not run now.

  holder        who holds the token. The agent asks the last holder that it knows, and
                then the members to whom the token went on. If one does not answer, the
                line says so.
  slot          the same for each token, in a gate that has several.
  guardians     the members that revive the token if this host, which holds it, dies.
  not running   why this host does not run now ("because" with --json): leaving, paused,
                no_majority, unwanted (no caller waits), window (none is open), not_due,
                disk (the start of a run cannot be recorded), other_secret (a host with
                another secret sends messages, and no member does), alone, unreachable (no
                other member answers datagrams of this host), waiting (the line says for
                how many laps).
  next run      a token that arrives before then only passes through.
  regenerates   when this host will consider the token lost and make a new one. The time
                grows by half with each token it makes, and shrinks with each that comes.
  load          op × members / min_interval / slots. Above 1 the fleet cannot keep up, and
                all members run later than min_interval.

With --fleet the agent asks all members, and waits two seconds for their answers. The
output has one line for each member: its last run, its next run, and why it does not run
now. It names the members that do not answer. Nothing is sent between two such questions.

With --check the output has one line for each problem, and the exit status is 2 if there is
one, so that it can be a check of a monitoring system. Problems are: no agent answers; all
warnings of a status, among them members that cannot be reached; members that failed in the
last 24 hours; and of each gate: it is closed, has no majority, sees no other member, knows
of no token for max_interval, has been due for three laps; its disk fails or hangs; its last
run failed; its ready command fails; it is paused without an end; a constant is too short.
Status 3 says that nobody knows, because the agent may not be asked.

With --watch you see the fleet live: where the token is and where it came from, who runs,
who failed, who is next. Press ? for the keys, q to quit. If the output is not a terminal,
each event is one line.

It uses the agent's control socket: run it as the agent's user, as a member of
socket_group, or as root.`,
		Example: `  wanderd status
  wanderd status --fleet
  wanderd status --check
  wanderd status --gate mirror
  wanderd status --watch
  wanderd status --socket /run/wanderd/wanderd.sock
  wanderd status --json | jq '.gates[] | select(.running)'
  wanderd status --fleet --json | jq -r '.members[] | select(.missing) | .name'`,
	}, func(ctx context.Context, c *control.Client) (page, error) {
		switch {
		case watch:
			return page{}, p.watch(ctx, c)
		case check:
			return p.check(ctx, c, gate)
		case ofFleet:
			f, err := c.Fleet(ctx)
			onlyGateOfFleet(&f, gate)
			return page{document: f, text: fleetText(&f, p.now())}, err
		}
		s, err := c.Status(ctx)
		if err == nil {
			err = onlyGate(&s, gate)
		}
		if err == nil {
			addNow(ctx, c, &s)
		}
		return page{document: s, text: statusText(s, p.now())}, err
	})
	cmd.Flags().BoolVar(&check, "check", false, "Print the problems only, and exit with 2 if there are some.")
	cmd.Flags().StringVar(&gate, "gate", "", "Show this `GATE` only.")
	cmd.Flags().BoolVar(&ofFleet, "fleet", false, "Ask all members, and show one line for each.")
	cmd.Flags().BoolVar(&watch, "watch", false, "Show the fleet as it goes, until q is pressed.")
	cmd.MarkFlagsMutuallyExclusive("watch", "json")
	cmd.MarkFlagsMutuallyExclusive("watch", "check", "fleet")
	cmd.MarkFlagsMutuallyExclusive("watch", "gate")
	return cmd
}

// addNow adds the present holders of the tokens. An older agent cannot report them; then the status is shown without
// them.
func addNow(ctx context.Context, c *control.Client, s *control.Status) {
	now, err := c.Now(ctx)
	if err != nil {
		return
	}
	for i := range s.Gates {
		g := &s.Gates[i]
		g.Now = slices.DeleteFunc(slices.Clone(now.Tokens), func(h control.Holder) bool { return h.Gate != g.Name })
	}
}

// page is what a command prints, as a document and as text for people, and the error with which it then ends, or nil.
type page struct {
	document any
	text     string
	end      error
}

// newAskCommand makes a command that requests a document from the agent and prints it.
func newAskCommand(p *program, cmd *cobra.Command,
	ask func(context.Context, *control.Client) (page, error),
) *cobra.Command {
	asJSON := false
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print JSON, as the agent sent it.")
	return p.asking(cmd, func(ctx context.Context, c *control.Client) error {
		answer, err := ask(ctx, c)
		if err != nil {
			return err
		}
		if asJSON {
			err = cli.WriteJSON(p.stdout, answer.document)
		} else {
			_, err = io.WriteString(p.stdout, answer.text)
		}
		return cmp.Or(err, answer.end)
	})
}

// asking completes a command that talks to the agent on this host. It finds the agent's socket. The command takes no
// arguments.
func (p *program) asking(cmd *cobra.Command, do func(context.Context, *control.Client) error) *cobra.Command {
	cmd.Args = cli.NoArgs
	return p.configured(cmd, func(ctx context.Context, c agent.Config, _ []string) error {
		return helpful(do(ctx, control.Dial(c.Socket)))
	}, "socket", "state_dir", "config")
}

// configured completes a command that needs the settings of some keys, with flags for them.
func (p *program) configured(cmd *cobra.Command, do func(ctx context.Context, c agent.Config, args []string) error,
	keys ...string,
) *cobra.Command {
	flags := settings.Flags{}
	flags.AddTo(cmd.Flags(), config.Table().Only(keys...))
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		layers := config.Read(flags, p.environ)
		if err := layers.Err(); err != nil {
			return err
		}
		return do(cmd.Context(), layers.Agent, args)
	}
	return cmd
}

func (p *program) newMembersCommand() *cobra.Command {
	knownHosts := false
	cmd := newAskCommand(p, &cobra.Command{
		Use:        "members",
		SuggestFor: []string{"nodes", "peers"},
		Short:      "List the members of the fleet",
		Long: `List the members of the fleet as the agent on this host sees them, with their
addresses, whether they are alive, and in which of this host's gates they take part.

After a member has joined or left, hosts may see different lists for a moment. A crash is
detected after some seconds. A member of which the list says "no answer" does not answer
datagrams of this host: "wanderd status" says what to check.

With --known-hosts the output is a line for the key of each member, as trust =
"known_hosts" needs it. Compare the keys with those of the hosts ("wanderd keygen --show")
before you trust them.

"wanderd members forget NAME" is for a host that is gone for good.`,
		Example: `  wanderd members
  wanderd members --known-hosts >known_hosts
  wanderd members --json | jq -r '.members[] | select(.state != "alive") | .name'`,
	}, func(ctx context.Context, c *control.Client) (page, error) {
		m, err := c.Members(ctx)
		text := membersText(m, p.now())
		if knownHosts {
			text = knownHostsText(m)
		}
		return page{document: m, text: text}, err
	})
	cmd.Flags().BoolVar(&knownHosts, "known-hosts", false, "Print the line of each member for a file of known hosts.")
	cmd.MarkFlagsMutuallyExclusive("known-hosts", "json")
	cmd.AddCommand(p.newMembersForgetCommand())
	return cmd
}

func (p *program) newMembersForgetCommand() *cobra.Command {
	name := ""
	cmd := p.asking(&cobra.Command{
		Use:   "forget NAME",
		Short: "Forget a member whose host is gone for good, on all hosts",
		Long: `Forget a member whose host is gone for good, on all hosts. It leaves the list of members
and those of "wanderd status --fleet" and "wanderd web", and counts as down no more
(max_down). Without this it does so seven days after it was last seen; in the roster of a
strict gate it counts until it is taken out there.

The directive reaches all hosts by gossip, and those that come later. Each host has it on
its disk. A member that is alive is not forgotten: stop its agent first. A member that comes
back counts again. At most 64 members are remembered as forgotten.`,
		Example: `  wanderd members forget web3`,
	}, func(ctx context.Context, c *control.Client) error {
		done, err := c.Forget(ctx, control.Forget{Name: name})
		if err != nil {
			return err
		}
		if done.Already {
			_, err = fmt.Fprintf(p.stdout, "%s was forgotten before\n", printable(name))
			return err
		}
		for i := range done.Members {
			done.Members[i] = short(done.Members[i])
		}
		_, err = fmt.Fprintf(p.stdout, "%s (%s) is forgotten on all hosts, and counts again if it comes back\n",
			printable(name), printable(strings.Join(done.Members, ", ")))
		return err
	})
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if err := cobra.ExactArgs(1)(cmd, args); err != nil {
			return err
		}
		name = args[0]
		return nil
	}
	return cmd
}

func membersText(m control.Members, now time.Time) string {
	list := byName(m)
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "NAME\tMEMBER\tADDRESS\tSTATE\tGATES")
	for _, e := range list {
		name := printable(e.Name)
		if e.Self {
			name += " (this host)"
		}
		state := printable(e.State)
		if !e.SilentSince.IsZero() {
			state += ", no answer"
		}
		_, _ = fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", name, short(e.Member), printable(e.Address), state,
			cmp.Or(printable(strings.Join(e.Gates, ", ")), "-"))
	}
	_ = t.Flush()
	writeForgotten(&b, m.Forgotten, now)
	return b.String()
}

// writeForgotten writes who is gone for good.
func writeForgotten(b *strings.Builder, list []control.ForgottenMember, now time.Time) {
	for _, f := range list {
		fmt.Fprintf(b, "%s (%s) was forgotten %s, by %s\n", printable(f.Name), short(f.Member), ago(f.Since, now),
			printable(f.By))
	}
}

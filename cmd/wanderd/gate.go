package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/cmd/cli"
)

func (p *program) newGateCommand() *cobra.Command {
	return cli.NewGroupCommand(&cobra.Command{
		Use:   "gate",
		Short: "Give a gate a new token, or forget its numbers",
		Long:  "Give a gate a new token in place of a lost one, or forget its numbers.",
	}, p.newGateRenewCommand(), p.newGateResetCommand())
}

func (p *program) newGateRenewCommand() *cobra.Command {
	renew := control.Renew{}
	cmd := &cobra.Command{
		Use:   "renew",
		Short: "Make a new token in place of a lost one, now",
		Long: `Make a new token for a gate that has lost its own, instead of waiting for max_interval.
The agent on this host first asks all members. If one of them has the token, keeps a copy
of it, or does not answer, or if this host had the token some seconds ago, it makes none,
and says why.

The members of a strict gate replace a lost token by themselves, as soon as a majority of
the roster is there. So this command is for the other gates.`,
		Example: `  wanderd gate renew
  wanderd gate renew --gate upgrade`,
	}
	cmd.Flags().StringVar(&renew.Gate, "gate", "", "Which `GATE`, if this host has several.")
	return p.asking(cmd, func(ctx context.Context, client *control.Client) error {
		done, err := client.Renew(ctx, renew)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.stdout, "gate %s: made %s; see \"wanderd status\"\n", printable(done.Gate),
			count(uint64(len(done.Slots)), "new token"))
		return err
	})
}

func (p *program) newGateResetCommand() *cobra.Command {
	stopped := false
	cmd := &cobra.Command{
		Use:   "reset GATE",
		Short: "Forget the fencing number of a gate, while all its agents are stopped",
		Long: `Forget the fencing number of a gate, and what this host remembers of its tokens, votes and
leases. You need this after a member has raised the number very high, or has made tokens
that win over all others. The time of the last run is kept, so the hook does not run early.

Stop all agents that have the gate, run this on each of their hosts, as root or as the
agent's user, and start them again.
A host that is left out brings the number back. In a strict gate, a host that forgets its
vote while another host runs can let two run at once. So confirm with --all-stopped that
all agents are stopped. A resource that checks the number (WANDERD_SEQ) must forget it too.

You can also give the gate a new name on all hosts. That forgets everything.`,
		Example: `  wanderd gate reset default --all-stopped`,
		Args:    cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&stopped, "all-stopped", false, "Confirm that all agents with this gate are stopped.")
	return p.configured(cmd, func(_ context.Context, c agent.Config, args []string) error {
		if !stopped {
			return errors.New("stop all agents that have this gate, then confirm with --all-stopped")
		}
		return p.resetGate(c.StateDir, args[0])
	}, "state_dir", "config")
}

// resetGate locks the state directory, so it fails unless this host's agent is stopped.
func (p *program) resetGate(path, gate string) (err error) {
	if err := statedir.ActAsOwner(path); err != nil {
		return err
	}
	dir, err := statedir.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	before, found, err := dir.Reset(gate)
	switch {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("%s has no record of a gate %q", path, gate)
	}
	ran := "it has never run here"
	if before.HasRun {
		ran = "its last run here, at " + before.LastRun.Local().Format(time.RFC3339) + ", is kept"
	}
	_, err = fmt.Fprintf(p.stdout, "gate %s: forgot the fencing number %d; %s\n", gate, uint64(before.Seq), ran)
	return err
}

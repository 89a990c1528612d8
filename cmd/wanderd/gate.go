package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
	"github.com/wanderd/wanderd/cmd/wanderd/settings"
)

func (p *program) newGateCommand() *cobra.Command {
	return newGroupCommand(&cobra.Command{
		Use:   "gate",
		Short: "Reset the past of a gate",
		Long:  "Reset the past of a gate.",
	}, p.newGateResetCommand())
}

func (p *program) newGateResetCommand() *cobra.Command {
	flags, stopped := settings.Flags{}, false
	cmd := &cobra.Command{
		Use:   "reset GATE",
		Short: "Forget the fencing number of a gate and its token, on a stopped fleet",
		Long: `Forget the fencing number of a gate, and what its protocol remembers of tokens, votes
and leases: after a member has raised them, or made tokens that win over all others.
When the last run was is kept, so that the hook does not run early.

Stop all agents that have the gate, run this on each of their hosts, and start them. A
host that is left out brings the number back. In a strict gate a host that has forgotten
its vote while others hold a lease can let two members run at once, so the command wants
to be told that all are stopped. A resource that checks the number (WANDERD_SEQ) has to
forget it, too.

A new name for the gate, on all hosts, has the same effect, and keeps nothing.`,
		Example: `  wanderd gate reset default --all-stopped`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			layers := config.Read(flags, p.environ)
			if err := layers.Err(); err != nil {
				return err
			}
			if !stopped {
				return errors.New("stop all agents that have this gate, then say --all-stopped")
			}
			return p.resetGate(layers.Agent.StateDir, args[0])
		},
	}
	cmd.Flags().BoolVar(&stopped, "all-stopped", false, "All agents that have this gate are stopped.")
	flags.AddTo(cmd.Flags(), config.Table().Only("state_dir", "config"))
	return cmd
}

// resetGate locks the state directory, so the agent of this host is stopped.
func (p *program) resetGate(path, gate string) (err error) {
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

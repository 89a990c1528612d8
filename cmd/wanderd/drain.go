package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/cli"
)

// goneEvery is how often a drain checks whether the agent is gone.
const goneEvery = 100 * time.Millisecond

func (p *program) newDrainCommand() *cobra.Command {
	noWait := false
	cmd := &cobra.Command{
		Use:        "drain",
		SuggestFor: []string{"cordon", "leave"},
		Short:      "Stop the agent on this host when its run has ended",
		Long: `Stop the agent on this host without stopping its run. The agent starts no more runs, lets
the present one end by itself, passes its token on, and leaves. systemd does not start a
drained agent again.

The command returns when the agent is gone. A signal to the command ends the wait, not
the drain. To stop the run as well, stop the agent (systemctl stop wanderd).

With stop = "drain" in the configuration every stop is a drain.`,
		Example: `  wanderd drain && reboot`,
	}
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "Return at once: do not wait until the agent is gone.")
	return p.asking(cmd, func(ctx context.Context, client *control.Client) error {
		if err := client.Drain(ctx); err != nil || noWait {
			return err
		}
		return p.waitUntilGone(ctx, client)
	})
}

// waitUntilGone waits until no agent answers any more, and prints what it waits for.
func (p *program) waitUntilGone(ctx context.Context, client *control.Client) error {
	ctx, stop := cli.UntilSignal(ctx, "wanderd", nil)
	defer stop()
	for said := false; ; {
		s, err := client.Status(ctx)
		switch {
		case errors.Is(err, control.ErrNoAgent):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		}
		for _, g := range s.Gates {
			if g.Running && !said {
				said = true
				_, _ = fmt.Fprintf(p.stderr, "waiting for the run of gate %s, which began at %s\n", printable(g.Name),
					clock(g.LastRun, p.now()))
			}
		}
		select {
		case <-time.After(goneEvery):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/wanderd/demo"
)

func newDemoCommand() *cobra.Command {
	cfg := demo.Config{}
	t := settings.Table{
		settings.Row("for", settings.Positive(&cfg.For), "30s", "How long to run."),
		settings.Row("members", settings.Count(&cfg.Members, 1, demo.MaxMembers), "5",
			fmt.Sprintf("How many agents, 1 to %d.", demo.MaxMembers)),
	}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a fleet on this machine and watch the token",
		Long: `Run a fleet on this machine and watch the token.

The demo starts complete agents on loopback, each with its own key, state directory and
socket. Their hooks make real copies of a generated tree, with rsync if it is installed,
otherwise with cp. Only the holder of the token runs its hook.

On a terminal the demo draws the holder of the token and the last run of each member.
Elsewhere it prints a line for each event. At the end, or after Ctrl-C, it prints a
summary: the runs and the longest interval of each member, the time in which two or more
ran at once, and how many tokens were lost, regenerated, revived and removed.

It writes to a temporary directory only, and removes it at the end.`,
		Example: "  wanderd demo\n  wanderd demo --for 2m --members 8\n  wanderd demo --for 10s | grep runs",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg.Out = cmd.OutOrStdout()
			cfg.Terminal = cli.Columns(cfg.Out) > 0
			cfg.Version = cli.Version()
			return demo.Run(cmd.Context(), cfg)
		},
	}
	cli.WithTable(cmd, t, "command line")
	return cmd
}

package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/wanderd/wanderd/cmd/wanderd/demo"
)

func newDemoCommand() *cobra.Command {
	cfg := demo.Config{}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Run a fleet on this machine and watch the token",
		Long: `Run a fleet on this machine and watch the token.

The demo starts complete agents, each with its own key, state directory, socket and
gossip, on loopback. Their hooks make real copies of a generated tree (with rsync
where it is installed, else with cp), and only the holder of the token runs its hook.
On a terminal it draws the holder of the token and the last run of each member; elsewhere
it prints a line for each event. At the end, or after Ctrl-C, it prints a summary: runs
and longest interval of each member, the time in which two or more ran at once, and
how many tokens were lost, regenerated, revived and removed.

It writes to a temporary directory only, and removes it at the end.`,
		Example: "  wanderd demo\n  wanderd demo --for 2m --members 8\n  wanderd demo --for 10s | grep runs",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg.Out = cmd.OutOrStdout()
			cfg.Terminal = term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("TERM") != "dumb"
			cfg.Version = versionString()
			return demo.Run(cmd.Context(), cfg)
		},
	}
	cmd.Flags().DurationVar(&cfg.For, "for", 30*time.Second, "how long to run")
	cmd.Flags().IntVar(&cfg.Members, "members", 5, "how many agents, 1 to 26")
	return cmd
}

// Wanderlab runs the experiments whose results are in the docs. See "wanderlab --help".
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/sim/report"
)

func main() {
	p := program{stdout: os.Stdout, stderr: os.Stderr, now: time.Now}
	ctx, stop := cli.UntilSignal(context.Background(), "wanderlab", nil)
	code := p.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// program is wanderlab with its environment.
type program struct {
	stdout, stderr io.Writer
	now            func() time.Time
}

func (p *program) run(ctx context.Context, args []string) int {
	root := &cobra.Command{
		Use:   "wanderlab COMMAND",
		Short: "Run the experiments of the docs",
		Long: `wanderlab runs the experiments whose results are in the docs: those of the paper of the
wandering token, of papers on other token protocols, and beyond them.

"wandersim list" and "wandersim run" start this program.`,
		Example: "  wanderlab list\n  wanderlab run wander-stable\n  wanderlab run --all --write docs",
		// Args is unset, because Run detects unknown commands itself.
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.UsageError(fmt.Errorf("%s needs a command: see \"%[1]s --help\"", cmd.Name()))
		},
	}
	root.AddCommand(p.newListCommand(), p.newRunCommand())
	commands := cli.Program{Root: root, Section: 1, ExitCode: cli.ExitCode}
	commands.Complete()
	return commands.Run(ctx, args, p.stdout, p.stderr)
}

// progress begins to show the progress of a task, if stderr is a terminal.
func (p *program) progress(task string) *report.Progress {
	return report.NewProgress(p.stderr, cli.Columns(p.stderr), task, p.now)
}

package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/sim/report"
)

const (
	programName = "wandersim"
	// agentName is the name under which "wanderd plan" and "wanderd sim" start this program, which then calls itself
	// wanderd.
	agentName = "wanderd"
)

// program is wandersim with its environment.
type program struct {
	// name is one of the two names above; empty means agentName.
	name           string
	stdout, stderr io.Writer
	now            func() time.Time
}

func (p *program) run(ctx context.Context, args []string) int {
	return p.commands().Run(ctx, args, p.stdout, p.stderr)
}

// commands returns all commands of the program. "hunt" and "trace" are at the top, too.
func (p *program) commands() *cli.Program {
	root := &cobra.Command{
		Use:     programName + " COMMAND",
		Short:   "Foresee what a fleet of wanderd does",
		Long:    longRoot,
		Example: exampleRoot,
		// Args is unset, because Run detects unknown commands itself.
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.UsageError(fmt.Errorf("%s needs a command: see \"%[1]s --help\"", cmd.Name()))
		},
	}
	sim := p.newSimCommand()
	hunt, trace := p.newHuntCommand(), p.newTraceCommand()
	sim.AddCommand(newListCommand(), newRunCommand(), hunt, trace)
	root.AddCommand(newPlanCommand(), sim)
	if p.name == programName {
		for _, c := range sim.Commands() {
			c.Hidden = true // these commands have shorter names here
		}
		root.AddCommand(p.newHuntCommand(), p.newTraceCommand(), newListCommand(), newRunCommand())
		speakAs(programName, root)
	} else {
		root.Use = agentName
	}
	program := &cli.Program{
		Root: root, AfterHelp: afterRoot, Section: 1, SeeAlso: []string{"wanderd (8)"}, ExitCode: cli.ExitCode,
	}
	program.Complete()
	return program
}

// speakAs replaces wanderd's names of the commands in all texts by the program's own.
func speakAs(name string, cmd *cobra.Command) {
	own := strings.NewReplacer(
		"wanderd sim hunt", name+" hunt", "wanderd sim trace", name+" trace", "wanderd sim list", name+" list",
		"wanderd sim run", name+" run",
		"wanderd sim", name+" sim", "wanderd plan", name+" plan",
	)
	cmd.Long, cmd.Example = own.Replace(cmd.Long), own.Replace(cmd.Example)
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = own.Replace(f.Usage) })
	for _, child := range cmd.Commands() {
		speakAs(name, child)
	}
}

// laboratory is the program that carries out experiments.
func laboratory() cli.Other {
	return cli.Other{Name: "wanderlab", Package: "github.com/wanderd/wanderd/lab/cmd/wanderlab"}
}

func newListCommand() *cobra.Command {
	return laboratory().CarriesOut(&cobra.Command{
		Use:   "list",
		Short: "List the experiments",
		Long: `List the experiments of "wanderd sim run". The program wanderlab has them, which no package
contains: it is in the source, as lab/cmd/wanderlab.`,
	}, "list")
}

func newRunCommand() *cobra.Command {
	return laboratory().CarriesOut(&cobra.Command{
		Use:   "run NAME",
		Short: "Run an experiment",
		Long: `Run an experiment. The program wanderlab has them, which no package contains: it is in the
source, as lab/cmd/wanderlab.`,
	}, "run")
}

// progress starts to show the progress of a task, if stderr is a terminal.
func (p *program) progress(task string) *report.Progress {
	return report.NewProgress(p.stderr, cli.Columns(p.stderr), task, p.now)
}

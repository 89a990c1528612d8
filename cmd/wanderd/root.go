package main

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/hook/early"
	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

// program is wanderd with its environment.
type program struct {
	stdout, stderr io.Writer
	environ        []string
	now            func() time.Time
	runAgent       func(context.Context, agent.Config) error
	// hangups makes SIGHUP ask for a reload from now on, and returns the channel of these requests.
	hangups func() <-chan struct{}
	// prepared is the guard for "wanderd exec", which starts while the rest of the program does; nil for other
	// commands.
	prepared *hook.Command
	// ownSignals stops the handling of signals by the program, for a command that handles them itself.
	ownSignals func()
}

func (p *program) run(ctx context.Context, args []string) int {
	return p.commands(args).Run(ctx, args, p.stdout, p.stderr)
}

// commands returns the commands to which the arguments may refer: only "exec" or "version" if they name one of these,
// and otherwise all. Scripts call those two again and again, and would wait longer for the flags of all others.
func (p *program) commands(args []string) *cli.Program {
	flags := settings.Flags{}
	root := &cobra.Command{
		Use:     "wanderd --hook COMMAND [flags]",
		Short:   "Run a command on one host of a fleet at a time",
		Long:    longRoot,
		Example: exampleRoot,
		// Args is unset, because Run detects unknown commands itself.
		RunE: func(cmd *cobra.Command, _ []string) error { return p.agent(cmd.Context(), flags) },
	}
	switch {
	case len(args) > 0 && args[0] == early.Exec:
		root.AddCommand(p.newExecCommand())
	case len(args) > 0 && args[0] == "version":
	default:
		flags.AddTo(root.Flags(), config.Table())
		root.AddCommand(p.newExecCommand(), p.newStatusCommand(), p.newMembersCommand(), p.newHistoryCommand(),
			p.newWebCommand(),
			p.newPauseCommand(), p.newResumeCommand(), p.newRunCommand(), p.newDrainCommand(), p.newReloadCommand(),
			p.newKeepCommand(),
			p.newConfigCommand(),
			p.newKeygenCommand(), p.newGateCommand(), newDemoCommand(), newPlanCommand(), newSimCommand())
	}
	program := &cli.Program{
		Root: root, AfterHelp: afterRoot, Section: 8, SeeAlso: []string{"wanderd.toml (5)"}, ExitCode: exitCode,
		Pages: map[string]func() string{"wanderd.toml.5": fileManual},
		Otherwise: func(word string) string {
			if strings.Contains(word, "/") {
				return "to gate it, use --hook " + word
			}
			return ""
		},
	}
	program.Complete()
	return program
}

// addAllFlags adds the flags of all settings to a command. Only the help of wanderd itself lists them.
func addAllFlags(cmd *cobra.Command, flags settings.Flags) {
	flags.AddTo(cmd.Flags(), config.Table())
	for _, s := range config.Table() {
		cmd.Flags().Lookup(s.Flag()).Hidden = true
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

// program is wanderd with its environment.
type program struct {
	stdout, stderr io.Writer
	environ        []string
	now            func() time.Time
	runAgent       func(context.Context, agent.Config) error
	// hangups makes SIGHUP ask for a reload from now on, and returns where the requests come.
	hangups func() <-chan struct{}
	// ownSignals stops the handling of signals by the program, for a command that handles them itself.
	ownSignals func()
}

func (p *program) run(ctx context.Context, args []string) int {
	root := p.newRootCommand()
	root.SetArgs(args)
	root.SetOut(p.stdout)
	root.SetErr(p.stderr)
	// An error before a command begins is an error of the command line, from cobra or from pflag.
	began := false
	root.PersistentPreRun = func(*cobra.Command, []string) { began = true }
	if len(args) > 0 && args[0] == cobra.ShellCompRequestCmd {
		unquoteUsages(root)
	}
	err := root.ExecuteContext(ctx)
	if err != nil && !began {
		if _, _, notFound := root.Find(args); notFound != nil {
			err = unknownCommand(root, args, notFound)
		}
		err = usageError(err)
	}
	if err != nil && err.Error() != "" {
		_, _ = fmt.Fprintf(p.stderr, "wanderd: %v\n", err)
	}
	return exitCode(err)
}

func (p *program) newRootCommand() *cobra.Command {
	flags, version := settings.Flags{}, false
	root := &cobra.Command{
		Use:     "wanderd --hook COMMAND [flags]",
		Short:   "Run a command on one host of a fleet at a time",
		Long:    longRoot,
		Example: exampleRoot,
		// Args is unset, because run detects unknown commands itself.
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				_, err := fmt.Fprintf(p.stdout, "wanderd %s\n", versionString())
				return err
			}
			return p.agent(cmd.Context(), flags)
		},
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	// cobra's own flag needs a template, and templates call methods by name: then the linker keeps every method of the program.
	root.Flags().BoolVarP(&version, "version", "v", false, "version for wanderd")
	flags.AddTo(root.Flags(), config.Table())
	root.AddCommand(p.newExecCommand(), p.newStatusCommand(), p.newMembersCommand(), p.newHistoryCommand(), p.newWebCommand(),
		p.newPauseCommand(), p.newResumeCommand(), p.newRunCommand(), p.newDrainCommand(), p.newReloadCommand(), p.newConfigCommand(), p.newKeygenCommand(),
		p.newGateCommand(),
		newDemoCommand(), newPlanCommand(), p.newSimCommand(), p.newCompletionCommand(), p.newManualCommand(), p.newVersionCommand())
	completeValues(root)
	root.SetHelpCommand(newHelpCommand())
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { writeHelp(cmd.OutOrStdout(), cmd) })
	root.SetFlagErrorFunc(unknownFlag)
	return root
}

// addAllFlags adds the flags of all settings to a command. Only the help of wanderd itself lists them.
func addAllFlags(cmd *cobra.Command, flags settings.Flags) {
	flags.AddTo(cmd.Flags(), config.Table())
	for _, s := range config.Table() {
		cmd.Flags().Lookup(s.Flag()).Hidden = true
	}
}

// withTable adds the flags of a table to a command. They fill the table's variables before the command runs.
func withTable(cmd *cobra.Command, t settings.Table, about string) {
	flags := settings.Flags{}
	flags.AddTo(cmd.Flags(), t)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if err := flags.Read(t, about); err != nil {
			return usageError(err)
		}
		return nil
	}
}

// newHelpCommand replaces cobra's, which accepts a command that does not exist.
func newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, _, err := cmd.Root().Find(args)
			if err != nil {
				return usageError(unknownCommand(cmd.Root(), args, err))
			}
			return about.Help()
		},
	}
}

// groupAnnotation marks a command that only contains others.
const groupAnnotation = "group"

// newGroupCommand makes a command that only contains others.
func newGroupCommand(cmd *cobra.Command, children ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(children...)
	cmd.Annotations = map[string]string{groupAnnotation: ""}
	// After a mistyped child name there may be flags of that child.
	cmd.FParseErrWhitelist.UnknownFlags = true
	cmd.Args = noArgsButCommands
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return usageError(fmt.Errorf("%s needs a command: %s", cmd.CommandPath(), strings.Join(commandNames(cmd), " or ")))
	}
	return cmd
}

func unknownCommand(root *cobra.Command, args []string, err error) error {
	// After a flag with one dash its value looks like a command.
	for _, arg := range args {
		if name := strings.TrimPrefix(arg, "-"); name != arg && root.Flags().Lookup(name) != nil {
			return fmt.Errorf("unknown flag %s: did you mean --%s?", arg, name)
		}
	}
	// cobra has no type for it: unknown command "stauts" for "wanderd"
	quoted, quotedErr := strconv.QuotedPrefix(strings.TrimPrefix(err.Error(), "unknown command "))
	word, unquoteErr := strconv.Unquote(quoted)
	if quotedErr != nil || unquoteErr != nil {
		return err
	}
	otherwise := "see \"wanderd --help\""
	if strings.Contains(word, "/") {
		otherwise = "to gate it, use --hook " + word
	}
	return fmt.Errorf("unknown command %q: %s", word, settings.DidYouMean(word, commandNames(root), otherwise))
}

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}

func unknownFlag(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok {
		return fmt.Errorf("%w: see \"%s --help\"", err, cmd.CommandPath())
	}
	word, dashes := unknown.GetSpecifiedName(), "--"
	if letters := unknown.GetSpecifiedShortnames(); letters != "" {
		word, _, _ = strings.Cut(letters, "=")
		dashes = "-"
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	near := settings.Nearest(word, names)
	if near == "" {
		return fmt.Errorf("unknown flag %s%s: see \"%s --help\"", dashes, word, cmd.CommandPath())
	}
	return fmt.Errorf("unknown flag %s%s: did you mean --%s?", dashes, word, near)
}

// noArgs is cobra.NoArgs with another text: cobra's takes an argument for an unknown command.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, but %q is one: see \"%[1]s --help\"", cmd.CommandPath(), args[0])
	}
	return nil
}

// noArgsButCommands is noArgs with a suggestion among the command's children.
func noArgsButCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := commandNames(cmd)
	return fmt.Errorf("unknown command %q for %s: %s", args[0], cmd.CommandPath(),
		settings.DidYouMean(args[0], names, "it has "+strings.Join(names, ", ")))
}

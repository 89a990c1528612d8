package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wanderd/wanderd/cmd/cli/settings"
)

// Program describes a program beyond its commands.
type Program struct {
	// Root is the program itself, as a command. Its name is the program's.
	Root *cobra.Command
	// AfterHelp ends the help of the program itself.
	AfterHelp string
	// Section is the section of the program's page in the manual. The pages of its commands are in section 1.
	Section int
	// SeeAlso are the other pages of the manual that each page refers to, as in "wanderd.toml (5)".
	SeeAlso []string
	// Pages are the pages of the manual that are not about a command, by their names: "wanderd.toml.5".
	Pages map[string]func() string
	// ExitCode returns the code with which an error ends the program.
	ExitCode func(error) int
	// Otherwise returns the advice about a word that resembles no command.
	Otherwise func(word string) string
}

// Complete adds the commands and flags that all programs have.
func (p *Program) Complete() {
	root := p.Root
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions = cobra.CompletionOptions{DisableDefaultCmd: true}
	// cobra's own flag needs a template, and templates call methods by name: then the linker keeps every method of the
	// program.
	version, run := false, root.RunE
	root.Flags().BoolVarP(&version, "version", "v", false, "version for "+root.Name())
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if version {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "%s %s\n", root.Name(), Version())
			return err
		}
		return run(cmd, args)
	}
	root.AddCommand(newCompletionCommand(root.Name()), p.newManualCommand(), newVersionCommand(root.Name()))
	completeValues(root)
	root.SetHelpCommand(p.newHelpCommand())
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { p.writeHelp(cmd.OutOrStdout(), cmd) })
	root.SetFlagErrorFunc(unknownFlag)
}

// Run runs the program with arguments, and returns its exit code.
func (p *Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := p.Root
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	// An error before a command begins is an error of the command line, from cobra or from pflag.
	began := false
	root.PersistentPreRun = func(*cobra.Command, []string) { began = true }
	if len(args) > 0 && args[0] == cobra.ShellCompRequestCmd {
		unquoteUsages(root)
	}
	err := root.ExecuteContext(ctx)
	if err != nil && !began {
		if _, _, notFound := root.Find(args); notFound != nil {
			err = p.unknownCommand(args, notFound)
		}
		err = UsageError(err)
	}
	if err != nil && err.Error() != "" {
		_, _ = fmt.Fprintf(stderr, "%s: %v\n", root.Name(), err)
	}
	return p.ExitCode(err)
}

// WithTable adds the flags of a table to a command. They fill the table's variables before the command runs.
func WithTable(cmd *cobra.Command, t settings.Table, about string) {
	flags := settings.Flags{}
	flags.AddTo(cmd.Flags(), t)
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if err := flags.Read(t, about); err != nil {
			return UsageError(err)
		}
		return nil
	}
}

// newHelpCommand replaces cobra's, which accepts a command that does not exist.
func (p *Program) newHelpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command",
		RunE: func(_ *cobra.Command, args []string) error {
			about, rest, err := p.Root.Find(args)
			if err != nil {
				return UsageError(p.unknownCommand(args, err))
			}
			if isElsewhere(about) {
				return about.RunE(about, append(rest, "--help"))
			}
			return about.Help()
		},
	}
}

// groupAnnotation marks a command that only contains others.
const groupAnnotation = "group"

// NewGroupCommand makes a command that only contains others.
func NewGroupCommand(cmd *cobra.Command, children ...*cobra.Command) *cobra.Command {
	cmd.AddCommand(children...)
	cmd.Annotations = map[string]string{groupAnnotation: ""}
	// After a mistyped child name there may be flags of that child.
	cmd.FParseErrWhitelist.UnknownFlags = true
	cmd.Args = NoArgsButCommands
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return UsageError(fmt.Errorf("%s needs a command: %s", cmd.CommandPath(),
			strings.Join(commandNames(cmd), " or ")))
	}
	return cmd
}

func (p *Program) unknownCommand(args []string, err error) error {
	root := p.Root
	// After a flag with one dash its value looks like a command.
	for _, arg := range args {
		if name := strings.TrimPrefix(arg, "-"); name != arg && root.Flags().Lookup(name) != nil {
			return fmt.Errorf("unknown flag %s: did you mean --%s?", arg, name)
		}
	}
	// cobra has no type for this error: unknown command "stauts" for "wanderd"
	quoted, quotedErr := strconv.QuotedPrefix(strings.TrimPrefix(err.Error(), "unknown command "))
	word, unquoteErr := strconv.Unquote(quoted)
	if quotedErr != nil || unquoteErr != nil {
		return err
	}
	for _, c := range root.Commands() {
		if slices.Contains(c.SuggestFor, word) {
			return fmt.Errorf("unknown command %q: see \"%s --help\"", word, c.CommandPath())
		}
	}
	otherwise := ""
	if p.Otherwise != nil {
		otherwise = p.Otherwise(word)
	}
	if otherwise == "" {
		otherwise = fmt.Sprintf("see \"%s --help\"", root.Name())
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

// NoArgs is cobra.NoArgs with another text: cobra.NoArgs takes an argument for an unknown command.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return fmt.Errorf("%s takes no arguments, but %q is one: see \"%[1]s --help\"", cmd.CommandPath(), args[0])
	}
	return nil
}

// NoArgsButCommands is NoArgs with a suggestion among the command's children.
func NoArgsButCommands(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := commandNames(cmd)
	if len(names) == 0 {
		return NoArgs(cmd, args)
	}
	return fmt.Errorf("unknown command %q for %s: %s", args[0], cmd.CommandPath(),
		settings.DidYouMean(args[0], names, "it has "+strings.Join(names, ", ")))
}

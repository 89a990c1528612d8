package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newCompletionCommand(name string) *cobra.Command {
	shells := []string{"bash", "zsh", "fish"}
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print the completions for a shell",
		Long: `Print a script that makes a shell complete commands, flags and their values. The packages
install it.`,
		Example: strings.ReplaceAll(`  source <(PROGRAM completion bash)
  PROGRAM completion fish > ~/.config/fish/completions/PROGRAM.fish`, "PROGRAM", name),
		ValidArgs: shells,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(shells, args[0]) {
				return fmt.Errorf("%s needs the name of a shell: %s", cmd.CommandPath(), strings.Join(shells, ", "))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch root := cmd.Root(); args[0] {
			case "zsh":
				return root.GenZshCompletion(cmd.OutOrStdout())
			case "fish":
				return root.GenFishCompletion(cmd.OutOrStdout(), true)
			default:
				return root.GenBashCompletionV2(cmd.OutOrStdout(), true)
			}
		},
	}
}

// completeValues makes shells complete the values of all flags that take one of a few. For the other flags that take no
// file, shells do not offer files.
func completeValues(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		s := behind(f)
		if s == nil || s.Placeholder == "PATH" || f.Value.Type() == "PATH" || f.Value.Type() == "COMMAND" {
			return
		}
		// It fails only for a flag that does not exist.
		_ = cmd.RegisterFlagCompletionFunc(f.Name,
			cobra.FixedCompletions(s.Value.Choices, cobra.ShellCompDirectiveNoFileComp))
	})
	for _, child := range cmd.Commands() {
		completeValues(child)
	}
}

// unquoteUsages removes the quotes from the placeholders, because a shell shows a flag's usage as it is written.
func unquoteUsages(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.Usage = strings.ReplaceAll(f.Usage, "`", "") })
	for _, child := range cmd.Commands() {
		unquoteUsages(child)
	}
}

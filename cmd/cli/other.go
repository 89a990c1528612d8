package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
)

// Other is another program of this project, which carries out some commands of this one.
type Other struct {
	// Name is the name of its file, and Package the path for "go install".
	Name, Package string
	// As is the name by which this program calls it, and which it uses for itself in its output; if empty, it uses its
	// own.
	As string
}

// elsewhere annotates a command that another program carries out.
const elsewhere = "elsewhere"

func isElsewhere(cmd *cobra.Command) bool { return cmd.Annotations[elsewhere] != "" }

// CarriesOut makes the other program carry out a command, with the same arguments after those in before.
func (o Other) CarriesOut(cmd *cobra.Command, before ...string) *cobra.Command {
	cmd.Annotations = map[string]string{elsewhere: o.Name}
	cmd.DisableFlagParsing = true
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := o.find(cmd.CommandPath())
		if err != nil {
			return UsageError(err)
		}
		return o.become(path, slices.Concat(before, args))
	}
	// A shell also asks for completions through the command.
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
		if path, err := o.find(cmd.CommandPath()); err == nil {
			_ = o.become(path, slices.Concat([]string{cobra.ShellCompRequestCmd}, before, args, []string{word}))
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// find returns the path of the program: beside this one, whose file may be the end of symbolic links, or on PATH.
func (o Other) find(command string) (string, error) {
	dir := "this program"
	if self, err := os.Executable(); err == nil {
		if file, err := filepath.EvalSymlinks(self); err == nil {
			self = file
		}
		dir = filepath.Dir(self)
		if path, err := exec.LookPath(filepath.Join(dir, o.Name)); err == nil {
			return path, nil
		}
	}
	if path, err := exec.LookPath(o.Name); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("%q needs the program %s, which is neither in %s nor on PATH: take it from the package, or "+
		"\"go install %s@latest\"",
		command, o.Name, dir, o.Package)
}

// become replaces this process by the other program. It returns only if that fails.
func (o Other) become(path string, args []string) error {
	name := o.Name
	if o.As != "" {
		name = o.As
	}
	return fmt.Errorf("%s: %w", path, syscall.Exec(path, append([]string{name}, args...), os.Environ()))
}

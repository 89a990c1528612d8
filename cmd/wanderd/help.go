package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wanderd/wanderd/cmd/wanderd/config"
	"github.com/wanderd/wanderd/cmd/wanderd/scenario"
)

// helpWidth is how many columns help has at most.
const helpWidth = 80

// writeHelp explains a command: what it does, how it is called, and what to know besides.
func writeHelp(w io.Writer, cmd *cobra.Command) {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(cmd.Long) + "\n\nUsage:\n")
	if _, isGroup := cmd.Annotations[groupAnnotation]; !isGroup {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND [flags]\n\nCommands:\n", cmd.CommandPath())
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-9s %s\n", c.Name(), c.Short)
			}
		}
	}
	writeFlags(&b, cmd)
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if !cmd.HasParent() {
		b.WriteString(afterRoot)
	}
	_, _ = io.WriteString(w, b.String())
}

// writeFlags lists flags under the headings of their groups.
func writeFlags(b *strings.Builder, cmd *cobra.Command) {
	heading := ""
	list := func(under string, f *pflag.Flag) {
		if under != heading {
			heading = under
			fmt.Fprintf(b, "\n%s:\n", heading)
		}
		writeFlag(b, f)
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if !isTabled(f) && f.Name != "help" && f.Name != "version" {
			list("Flags", f)
		}
	})
	for _, p := range scenario.Table() {
		if f := cmd.Flags().Lookup(p.Flag()); holds[*scenario.FlagValue](f) {
			list(string(p.Group)+" flags", f)
		}
	}
	for _, s := range config.Settings() {
		if f := cmd.Flags().Lookup(s.Flag()); holds[*config.FlagValue](f) && !f.Hidden {
			under := "Flags"
			if !cmd.HasParent() {
				under = string(s.Group) + " flags"
			}
			list(under, f)
		}
	}
}

// isTabled reports whether a flag comes from a table, whose help is complete.
func isTabled(f *pflag.Flag) bool {
	return holds[*config.FlagValue](f) || holds[*scenario.FlagValue](f)
}

// holds reports whether there is a flag, and its value is of type V.
func holds[V pflag.Value](f *pflag.Flag) bool {
	if f == nil {
		return false
	}
	_, ok := f.Value.(V)
	return ok
}

func writeFlag(b *strings.Builder, f *pflag.Flag) {
	placeholder, usage := pflag.UnquoteUsage(f)
	if !isTabled(f) {
		placeholder = strings.ToUpper(placeholder)
		if placeholder != "" && f.DefValue != "" {
			usage += " (default " + f.DefValue + ")"
		}
	}
	fmt.Fprintf(b, "  --%s\n", strings.TrimSpace(f.Name+" "+placeholder))
	for _, line := range wrap(usage, helpWidth-8) {
		fmt.Fprintf(b, "        %s\n", line)
	}
}

// wrap breaks text into lines of at most width characters, if its words allow that.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len([]rune(line))+1+len([]rune(word)) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimSpace(line + " " + word)
	}
	return append(lines, line)
}

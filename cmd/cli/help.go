package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wanderd/wanderd/cmd/cli/settings"
)

// HelpWidth is the largest width of help, in columns.
const HelpWidth = 80

func (p *Program) writeHelp(w io.Writer, cmd *cobra.Command) {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(cmd.Long) + "\n\nUsage:\n")
	if _, isGroup := cmd.Annotations[groupAnnotation]; !isGroup {
		fmt.Fprintf(&b, "  %s\n", cmd.UseLine())
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND [flags]\n\nCommands:\n", cmd.CommandPath())
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(&b, "  %-11s %s\n", c.Name(), c.Short)
			}
		}
	}
	writeFlags(&b, cmd)
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	if !cmd.HasParent() {
		b.WriteString(p.AfterHelp)
	}
	_, _ = io.WriteString(w, b.String())
}

// writeFlags lists flags under the headings of their groups.
func writeFlags(b *strings.Builder, cmd *cobra.Command) {
	heading := ""
	list := func(tabled bool) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			s := behind(f)
			if f.Hidden || (s != nil) != tabled || f.Name == "help" || f.Name == "version" {
				return
			}
			under := "Flags"
			if tabled && s.Group != "" {
				under = s.Group + " flags"
			}
			if under != heading {
				heading = under
				fmt.Fprintf(b, "\n%s:\n", heading)
			}
			writeFlag(b, f)
		})
	}
	list(false)
	list(true)
}

// behind returns the setting that a flag sets, or nil.
func behind(f *pflag.Flag) *settings.Setting {
	if v, ok := f.Value.(*settings.FlagValue); ok {
		return v.Setting
	}
	return nil
}

func writeFlag(b *strings.Builder, f *pflag.Flag) {
	placeholder, usage := pflag.UnquoteUsage(f)
	if behind(f) == nil { // the help of a setting is complete
		placeholder = strings.ToUpper(placeholder)
		if placeholder != "" && f.DefValue != "" {
			usage += " (default " + f.DefValue + ")"
		}
	}
	letter := ""
	if f.Shorthand != "" {
		letter = "-" + f.Shorthand + ", "
	}
	fmt.Fprintf(b, "  %s--%s\n", letter, strings.TrimSpace(f.Name+" "+placeholder))
	for _, line := range Wrap(usage, HelpWidth-8) {
		fmt.Fprintf(b, "        %s\n", line)
	}
}

// Wrap breaks text into lines of at most width characters, if its words allow that.
func Wrap(text string, width int) []string {
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

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

func (p *program) newManualCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "manual DIRECTORY",
		Short: "Write the manual pages, for packages",
		Long: `Write the manual pages into a directory: wanderd(8), a page of section 1 for each command,
and wanderd.toml(5). They have the same texts as --help.`,
		Example: `  wanderd manual /tmp/man && man -l /tmp/man/wanderd.toml.5`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s needs one directory: see \"%[1]s --help\"", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return writeManual(args[0], cmd.Root()) },
	}
}

// writeManual writes one page for each command, and one for the configuration file.
func writeManual(dir string, root *cobra.Command) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	pages := map[string]string{"wanderd.toml.5": fileManual()}
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		name, section := manualName(cmd)
		pages[fmt.Sprintf("%s.%d", name, section)] = commandManual(cmd)
		for _, child := range cmd.Commands() {
			if child.IsAvailableCommand() {
				add(child)
			}
		}
	}
	add(root)
	for name, page := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(page), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// manualName returns the name of a command's page, and its section: the agent is a service, the others are commands of a user.
func manualName(cmd *cobra.Command) (name string, section int) {
	if !cmd.HasParent() {
		return cmd.Name(), 8
	}
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-"), 1
}

// commandManual is the page of a command, made from its help.
func commandManual(cmd *cobra.Command) string {
	var help, page strings.Builder
	writeHelp(&help, cmd)
	name, section := manualName(cmd)
	writeTitle(&page, name, section, cmd.Short)
	page.WriteString(".SH DESCRIPTION\n")
	writeRoff(&page, help.String())
	page.WriteString(".SH SEE ALSO\n")
	if cmd.HasParent() {
		page.WriteString(".BR wanderd (8),\n")
	}
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			name, section := manualName(child)
			fmt.Fprintf(&page, ".BR %s (%d),\n", roff(name), section)
		}
	}
	page.WriteString(".BR wanderd.toml (5)\n")
	return page.String()
}

// fileManual is the page of the configuration file, made from the table of settings.
func fileManual() string {
	var page strings.Builder
	writeTitle(&page, "wanderd.toml", 5, "Configuration of wanderd")
	page.WriteString(".SH DESCRIPTION\n")
	writeRoff(&page, fileIntroduction)
	group := ""
	for _, s := range config.Table() {
		if s.NotInFile {
			continue
		}
		if s.Group != group {
			group = s.Group
			fmt.Fprintf(&page, ".SH %s\n", strings.ToUpper(roff(group)))
		}
		fmt.Fprintf(&page, ".TP\n.B %s\n%s\n", roff(s.Key), roff(s.Usage()))
	}
	page.WriteString(".SH SEE ALSO\n.BR wanderd (8),\n.BR wanderd-config-check (1),\n.BR wanderd-config-show (1)\n")
	return page.String()
}

const fileIntroduction = `A TOML file for "wanderd --config". A flag wins over its environment variable, the variable over
the file, the file over the default. A key that does not exist, or a duration without a unit, is an error that names its line.

The keys of a gate stand at the top of the file, for all gates, or in a [[gate]] table, for that gate:

  min_interval = "10m"
  [[gate]]
  name = "sync"
  hook = ["./sync.sh", "--quiet"]
  [[gate]]
  name = "upgrade"
  hook = "./upgrade.sh"
  min_interval = "1d"
`

func writeTitle(w io.Writer, name string, section int, short string) {
	_, _ = fmt.Fprintf(w, ".TH %s %d \"\" \"wanderd\" \"wanderd manual\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name), section, roff(name), roff(short))
}

// writeRoff sets a text of the form that help has: paragraphs, headings that end with a colon, flags and words with a deeper text, and
// indented lines, which stay as they are.
func writeRoff(w io.Writer, text string) {
	literal, headed := false, true
	// A heading begins a paragraph by itself.
	paragraph := func() {
		if !headed {
			_, _ = io.WriteString(w, ".PP\n")
		}
		headed = false
	}
	setLiteral := func(on bool) {
		switch {
		case on && !literal:
			paragraph()
			_, _ = io.WriteString(w, ".nf\n")
		case !on && literal:
			_, _ = io.WriteString(w, ".fi\n")
		}
		literal = on
	}
	inFlag, blank := false, true
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		isFlag, ofFlag := strings.HasPrefix(line, "  --"), inFlag && indent == 8
		setLiteral(indent > 0 && !isFlag && !ofFlag)
		switch {
		case line == "":
			blank, inFlag = true, false
			continue
		case indent == 0 && blank && strings.HasSuffix(line, ":") && !strings.Contains(line, ". "):
			_, _ = fmt.Fprintf(w, ".SH %s\n", strings.ToUpper(roff(strings.TrimSuffix(line, ":"))))
			blank, headed = false, true
			continue
		case isFlag:
			_, _ = fmt.Fprintf(w, ".TP\n.B %s\n", roff(strings.TrimSpace(line)))
			headed, inFlag = false, true
			continue
		case ofFlag:
			line = strings.TrimSpace(line)
		case literal:
			inFlag = false
		default:
			if blank {
				paragraph()
			}
			headed = false
		}
		blank = false
		_, _ = fmt.Fprintln(w, roff(line))
	}
	setLiteral(false)
}

// roff escapes what roff would take for a request or an escape.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

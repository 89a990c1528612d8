package cli

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

func (p *Program) newManualCommand() *cobra.Command {
	root := p.Root.Name()
	pages := []string{fmt.Sprintf("%s(%d), a page of section 1 for each command", root, p.Section)}
	for _, other := range slices.Sorted(maps.Keys(p.Pages)) {
		name, section := cutSection(other)
		pages = append(pages, fmt.Sprintf("%s(%s)", name, section))
	}
	about := "Write the manual pages into a directory: " + strings.Join(pages, ", and ") +
		". They have the same texts as --help."
	return &cobra.Command{
		Use:     "manual DIRECTORY",
		Short:   "Write the manual pages, for packages",
		Long:    strings.Join(Wrap(about, 90), "\n"),
		Example: fmt.Sprintf("  %s manual /tmp/man && man -l /tmp/man/%[1]s.%[2]d", root, p.Section),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("%s needs one directory: see \"%[1]s --help\"", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return p.writeManual(args[0]) },
	}
}

// cutSection cuts the name of a page's file into the name and the section.
func cutSection(file string) (name, section string) {
	at := strings.LastIndexByte(file, '.')
	return file[:at], file[at+1:]
}

// writeManual writes one page for each command, and the others.
func (p *Program) writeManual(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	pages := map[string]string{}
	for name, text := range p.Pages {
		pages[name] = text()
	}
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		name, section := p.manualName(cmd)
		pages[fmt.Sprintf("%s.%d", name, section)] = p.commandManual(cmd)
		for _, child := range cmd.Commands() {
			if child.IsAvailableCommand() {
				add(child)
			}
		}
	}
	add(p.Root)
	for name, page := range pages {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(page), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// manualName returns the name of a command's page, and its section.
func (p *Program) manualName(cmd *cobra.Command) (name string, section int) {
	if !cmd.HasParent() {
		return cmd.Name(), p.Section
	}
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-"), 1
}

// commandManual returns the manual page of a command, made from its help.
func (p *Program) commandManual(cmd *cobra.Command) string {
	var help, page strings.Builder
	p.writeHelp(&help, cmd)
	name, section := p.manualName(cmd)
	WriteTitle(&page, name, section, cmd.Short)
	page.WriteString(".SH DESCRIPTION\n")
	WriteRoff(&page, help.String())
	var also []string
	if cmd.HasParent() {
		also = append(also, fmt.Sprintf("%s (%d)", p.Root.Name(), p.Section))
	}
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			name, section := p.manualName(child)
			also = append(also, fmt.Sprintf("%s (%d)", Roff(name), section))
		}
	}
	WriteSeeAlso(&page, append(also, p.SeeAlso...)...)
	return page.String()
}

// WriteSeeAlso ends a page with references to others, each as in "wanderd (8)".
func WriteSeeAlso(w io.Writer, pages ...string) {
	_, _ = fmt.Fprintf(w, ".SH SEE ALSO\n.BR %s\n", strings.Join(pages, ",\n.BR "))
}

// WriteTitle begins a page.
func WriteTitle(w io.Writer, name string, section int, short string) {
	_, _ = fmt.Fprintf(w, ".TH %s %d \"\" \"wanderd\" \"wanderd manual\"\n.SH NAME\n%s \\- %s\n", strings.ToUpper(name),
		section, Roff(name), Roff(short))
}

// WriteRoff formats a text in the form of help: paragraphs, headings that end with a colon, flags and words with a text
// indented below them, and indented lines, which stay as they are.
func WriteRoff(w io.Writer, text string) {
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
			_, _ = fmt.Fprintf(w, ".SH %s\n", strings.ToUpper(Roff(strings.TrimSuffix(line, ":"))))
			blank, headed = false, true
			continue
		case isFlag:
			_, _ = fmt.Fprintf(w, ".TP\n.B %s\n", Roff(strings.TrimSpace(line)))
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
		_, _ = fmt.Fprintln(w, Roff(line))
	}
	setLiteral(false)
}

// Roff escapes what roff would take for a request or an escape.
func Roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`).Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}

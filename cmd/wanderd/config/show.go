package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/BurntSushi/toml"

	"github.com/wanderd/wanderd/cmd/cli/settings"
)

// WriteTOML writes every value in force with its origin, as a file that has the same effect when it is read.
func (l *Layers) WriteTOML(w io.Writer) error {
	var p page
	for i, s := range l.Table {
		if i > 0 && s.Group != l.Table[i-1].Group {
			p.line("", "")
		}
		p.setting(s)
	}
	if !l.fromHook {
		for _, g := range l.gates {
			p.line("", "")
			p.line("[[gate]]", g.origin.String())
			for _, s := range g.applying() {
				p.setting(s)
			}
		}
	}
	return p.write(w)
}

// Summary has a line for each gate: what it runs, and all settings that have an effect there.
func (l *Layers) Summary() string {
	var b strings.Builder
	for _, g := range l.gates {
		runs := cmp.Or(strings.Join(g.Hook, " "), "commands")
		var terms []string
		for _, s := range g.applying() {
			if s.Key != "name" && s.Key != "hook" && (s.Needs == "" || g.Find(s.Needs).IsSet()) &&
				(s.IsSet() || s.Rule != "") {
				terms = append(terms, s.Key+" "+inWords(s))
			}
		}
		if len(g.Stages.First) > 0 {
			terms = append(terms, fmt.Sprintf("%s is in %s", l.Agent.Name, g.Stages.Name(g.Stages.Of(l.Agent.Name))))
		}
		fmt.Fprintf(&b, "gate %s: %s (%s)\n", g.Name, runs, strings.Join(terms, ", "))
	}
	return b.String()
}

// inWords writes the value of a setting, or that its rule makes it.
func inWords(s *settings.Setting) string {
	if !s.IsSet() {
		return "by the default rule"
	}
	if list, ok := s.Value.Plain().([]string); ok {
		return fmt.Sprintf("%q", list)
	}
	return fmt.Sprint(s.Value.Plain())
}

// page is a list of lines with comments, which start in one column.
type page struct{ lines [][2]string }

func (p *page) line(text, comment string) { p.lines = append(p.lines, [2]string{text, comment}) }

// setting writes one value. A setting that is not set, or that is not allowed in a file, becomes a comment.
func (p *page) setting(s *settings.Setting) {
	text := s.Key + " ="
	if s.IsSet() {
		// toml can write all of these: texts, numbers and lists of texts.
		line, _ := toml.Marshal(map[string]any{s.Key: s.Value.Plain()})
		text = strings.TrimSpace(string(line))
	}
	if s.NotInFile || !s.IsSet() {
		text = "# " + text
	}
	p.line(text, s.From())
}

// widest is the greatest width of a value, in columns, that moves the comments of all lines to the right.
const widest = 44

func (p *page) write(w io.Writer) error {
	column := 0
	for _, l := range p.lines {
		if n := utf8.RuneCountInString(l[0]); n <= widest {
			column = max(column, n)
		}
	}
	var b strings.Builder
	for _, l := range p.lines {
		if l[1] != "" {
			l[0] = fmt.Sprintf("%-*s  # %s", column, l[0], l[1])
		}
		b.WriteString(l[0] + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shown is a setting in JSON; Value is null if nothing is set.
type shown struct {
	Value  any    `json:"value"`
	Origin string `json:"origin"`
}

// WriteJSON writes every value in force with its origin.
func (l *Layers) WriteJSON(w io.Writer) error {
	document := struct {
		Settings map[string]shown   `json:"settings"`
		Gates    []map[string]shown `json:"gates"`
	}{Settings: show(l.Table), Gates: []map[string]shown{}}
	for _, g := range l.gates {
		document.Gates = append(document.Gates, show(g.applying()))
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(document)
}

func show(t settings.Table) map[string]shown {
	all := make(map[string]shown)
	for _, s := range t {
		v := shown{Origin: s.From()}
		if s.IsSet() {
			v.Value = s.Value.Plain()
		}
		all[s.Key] = v
	}
	return all
}

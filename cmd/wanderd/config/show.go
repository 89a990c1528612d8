package config

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// WriteTOML writes every value in force with its origin, as a file that has the same effect when it is read.
func (l *Layers) WriteTOML(w io.Writer) error {
	var p page
	group := Group("")
	for _, s := range Settings() {
		if s.Group != group {
			if group != "" {
				p.blank()
			}
			group = s.Group
		}
		v := l.top[s.ID]
		p.setting(s, v, s.scope == outside)
	}
	if !l.fromHook() {
		for _, g := range l.gates {
			p.blank()
			p.line("[["+gateTable+"]]", g.origin.String())
			for _, s := range GateSettings() {
				p.setting(s, g.values[s.ID], false)
			}
		}
	}
	return p.write(w)
}

// page is lines with comments, which stand in one column.
type page struct{ lines [][2]string }

func (p *page) blank() { p.line("", "") }

func (p *page) line(text, comment string) { p.lines = append(p.lines, [2]string{text, comment}) }

// setting writes one value; what is not set, and what has no place in a file, is a comment.
func (p *page) setting(s Setting, v Value, asComment bool) {
	text, comment := s.Key+" =", notSet(s)
	if v.Set {
		text, comment = text+" "+v.toml(s.Kind), v.Origin.String()
	}
	if asComment || !v.Set {
		text = "# " + text
	}
	p.line(text, comment)
}

// notSet is the origin of a value that is not there.
func notSet(s Setting) string {
	if s.Rule == "" {
		return "not set"
	}
	return Origin{Name: s.Rule}.String()
}

// widest is the column beyond which a long value does not push all comments.
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
		b.WriteString(l[0])
		if l[1] != "" {
			b.WriteString(strings.Repeat(" ", max(column-utf8.RuneCountInString(l[0]), 0)))
			b.WriteString("  # " + l[1])
		}
		b.WriteByte('\n')
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// toml writes a value as it stands in a file.
func (v Value) toml(k Kind) string {
	switch k {
	case Bool:
		return strconv.FormatBool(v.Bool)
	case Number:
		return strconv.Itoa(v.Number)
	case Time:
		return quoteTOML(FormatDuration(v.Duration))
	case List, Command:
		quoted := make([]string, 0, len(v.List))
		for _, e := range v.List {
			quoted = append(quoted, quoteTOML(e))
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	case Text, Path:
	}
	return quoteTOML(v.Text)
}

// quoteTOML writes a basic string of TOML, whose escapes differ from Go's.
func quoteTOML(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// shown is a value in JSON; Value is null where nothing is set.
type shown struct {
	Value  any    `json:"value"`
	Origin string `json:"origin"`
}

func (v Value) shown(s Setting) shown {
	if !v.Set {
		return shown{Origin: notSet(s)}
	}
	d := shown{Origin: v.Origin.String()}
	switch s.Kind {
	case Bool:
		d.Value = v.Bool
	case Number:
		d.Value = v.Number
	case Time:
		d.Value = FormatDuration(v.Duration)
	case List, Command:
		d.Value = v.List
	case Text, Path:
		d.Value = v.Text
	}
	return d
}

// WriteJSON writes every value in force with its origin.
func (l *Layers) WriteJSON(w io.Writer) error {
	document := struct {
		Settings map[string]shown   `json:"settings"`
		Gates    []map[string]shown `json:"gates"`
	}{Settings: make(map[string]shown), Gates: []map[string]shown{}}
	for _, s := range Settings() {
		document.Settings[s.Key] = l.top[s.ID].shown(s)
	}
	for _, g := range l.gates {
		gate := make(map[string]shown)
		for _, s := range GateSettings() {
			gate[s.Key] = g.values[s.ID].shown(s)
		}
		document.Gates = append(document.Gates, gate)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(document)
}

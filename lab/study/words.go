package study

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"text/template"

	"github.com/wanderd/wanderd/sim/report"
)

// Figures are the figures that are filled into an experiment's texts, by name.
type Figures map[string]any

// sectionBegins is the beginning of each section of a page.
const sectionBegins = "\n## "

// headForm is the first paragraph of a section.
var headForm = regexp.MustCompile(`^\*\*(.+?)\*\* \((.+?)\)\. (.+)$`)

// Written returns the page of some experiments. Its words are a template: title, intro, and a section for each
// experiment, which has what the page has, without tables and plots:
//
//	## name
//
//	**Title** (source). What it shows.
//
//	What the verdict judges: the verdict.
//
//	- a note
//	- another note
//
//	**The title of a table**
//
//	A note on this table, and on each whose title goes on after a comma.
//
// Lines are joined as Markdown joins them. It panics if a section or an experiment lacks the other one: both are parts
// of the program. A figure that an experiment does not have is an error when the experiment is run.
func Written(name, text string, experiments ...Experiment) Page {
	p, err := written(name, text, experiments)
	if err != nil {
		panic(err)
	}
	return p
}

func written(name, text string, experiments []Experiment) (Page, error) {
	parts := strings.Split(text, sectionBegins)
	root, err := template.New(name).Option("missingkey=error").Funcs(template.FuncMap{
		"number": report.Number, "percent": report.Percent, "join": strings.Join,
	}).Parse(parts[0])
	if err != nil {
		return Page{}, err
	}
	top, err := filled(root, nil)
	if err != nil {
		return Page{}, err
	}
	title, intro, _ := strings.Cut(strings.TrimSpace(top), "\n")
	p := Page{Name: name, Title: strings.TrimPrefix(title, "# "), Intro: strings.TrimSpace(intro)}
	sections := map[string]string{}
	for _, part := range parts[1:] {
		of, section, _ := strings.Cut(part, "\n")
		if _, twice := sections[of]; twice {
			return p, fmt.Errorf("the page %s has two sections %s", name, of)
		}
		sections[of] = section
	}
	for _, e := range experiments {
		section, ok := sections[e.Name]
		if !ok {
			return p, fmt.Errorf("the page %s has no section %s", name, e.Name)
		}
		delete(sections, e.Name)
		if err := e.read(root, section); err != nil {
			return p, fmt.Errorf("%s: %w", e.Name, err)
		}
		p.Experiments = append(p.Experiments, e)
	}
	for of := range sections {
		return p, fmt.Errorf("the page %s has a section %s, and no such experiment", name, of)
	}
	return p, nil
}

// read takes the experiment's texts from its section, and fills in what is known before it runs.
func (e *Experiment) read(root *template.Template, section string) error {
	head, rest, _ := strings.Cut(strings.TrimSpace(section), "\n\n")
	begin, err := root.New(e.Name + ", beginning").Parse(head)
	if err != nil {
		return err
	}
	text, err := filled(begin, e.Given)
	if err != nil {
		return err
	}
	if e.words, err = root.New(e.Name).Parse(rest); err != nil {
		return err
	}
	parts := headForm.FindStringSubmatch(strings.Join(paragraphs(text), " "))
	if parts == nil {
		return fmt.Errorf("its section begins with %q, and should with **title** (source). What it shows", text)
	}
	e.Title, e.Source, e.Shows = parts[1], parts[2], parts[3]
	var ok bool
	if e.Against, _, ok = strings.Cut(strings.TrimSpace(rest), ": "); !ok {
		return errors.New("its section has no verdict")
	}
	return nil
}

// say adds the experiment's texts to a result: the verdict, the notes, and those below tables.
func (r *Result) say() error {
	figures := Figures{}
	maps.Copy(figures, r.Given)
	maps.Copy(figures, r.Figures)
	text, err := filled(r.words, figures)
	if err != nil {
		return err
	}
	table, all := "", paragraphs(text)
	if len(all) == 0 {
		return fmt.Errorf("%s: there is no verdict", r.Name)
	}
	_, verdict, _ := strings.Cut(all[0], ": ")
	r.Verdict = strings.TrimSuffix(verdict, ".")
	for _, p := range all[1:] {
		note, isNote := strings.CutPrefix(p, "- ")
		switch {
		case isNote:
			r.Notes = append(r.Notes, note)
		case strings.HasPrefix(p, "**"):
			table = strings.Trim(p, "*")
		default:
			if !r.noteBelow(table, p) {
				return fmt.Errorf("%s: there is a note below the table %q, and no such table", r.Name, table)
			}
		}
	}
	return nil
}

// noteBelow puts a note below all tables with a title, and reports whether there is one.
func (r *Result) noteBelow(title, note string) (found bool) {
	add := func(to string, notes *[]string) {
		if to == title || strings.HasPrefix(to, title+", ") {
			*notes, found = append(*notes, note), true
		}
	}
	for i := range r.Comparisons {
		add(r.Comparisons[i].Title, &r.Comparisons[i].Notes)
	}
	for i := range r.Tables {
		add(r.Tables[i].Title, &r.Tables[i].Notes)
	}
	return found
}

func filled(t *template.Template, figures Figures) (string, error) {
	var b strings.Builder
	if err := t.Execute(&b, figures); err != nil {
		return "", err
	}
	if strings.Contains(b.String(), "<no value>") {
		return "", fmt.Errorf("%s: a figure has no value: %q", t.Name(), b.String())
	}
	return b.String(), nil
}

// paragraphs returns the paragraphs of a text, each on one line. An item of a list begins a paragraph, and so does a
// line that begins in bold.
func paragraphs(text string) (all []string) {
	begins := true
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			begins = true
			continue
		case begins || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "**"):
			all = append(all, line)
		default:
			all[len(all)-1] += " " + line
		}
		begins = false
	}
	return all
}

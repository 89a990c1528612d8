package study

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/wanderd/wanderd/sim/report"
)

// Page has the experiments of one subject. A file in the docs has their results.
type Page struct {
	// Name is the file's name without its ending. On the command line it stands for all experiments of the page.
	Name string
	// Title is the page's title. Intro is the text before the results, in Markdown.
	Title, Intro string
	Experiments  []Experiment
}

// plotFolder is the folder for the plots of all pages, within the folder of the pages.
const plotFolder = "plots"

// whole is the number of parts of an experiment in which [Write] reports progress.
const whole = 1000

// Write runs all experiments of the pages and writes each page and its plots to NAME.md and plots/*.svg in an existing
// folder. It first checks that it can write them. The same options give the same bytes. If ctx is cancelled during a
// page, that page stays as it was. o.Progress counts thousandths of an experiment.
func Write(ctx context.Context, folder string, pages []Page, o Options) error {
	var files []*report.Output
	for _, p := range pages {
		file, err := report.Create(filepath.Join(folder, p.Name+".md"))
		if err != nil {
			return err
		}
		defer file.Discard()
		files = append(files, file)
	}
	plots := filepath.Join(folder, plotFolder)
	if err := os.MkdirAll(plots, 0o755); err != nil {
		return fmt.Errorf("the plots need a folder: %w", err)
	}
	all, before := 0, 0
	for _, p := range pages {
		all += len(p.Experiments)
	}
	for i, p := range pages {
		results, err := p.run(ctx, o, before, all)
		if err != nil {
			return err
		}
		before += len(results)
		for _, r := range results {
			if err := r.Draw(plots); err != nil {
				return err
			}
		}
		if _, err := io.WriteString(files[i], p.text(results)); err != nil {
			return err
		}
		if err := files[i].Commit(); err != nil {
			return err
		}
	}
	return nil
}

// run runs the experiments of a page. before is how many of all pages' experiments have been run before.
func (p *Page) run(ctx context.Context, o Options, before, all int) ([]Result, error) {
	var results []Result
	for i, e := range p.Experiments {
		own := o
		if o.Progress != nil {
			own.Progress = func(done, jobs int) { o.Progress((before+i)*whole+done*whole/jobs, all*whole) }
		}
		r, err := e.Run(ctx, own)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

// text returns the text of the page.
func (p *Page) text(results []Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n\n"+
		"This page is written by `go run ./lab/cmd/wanderlab run %s --write docs`; nothing on it is typed by hand. "+
		"One experiment alone: "+
		"`wanderlab run NAME`.\n\n", p.Title, p.Intro, p.Name)
	for i := range results {
		r := &results[i]
		fmt.Fprintf(&b, "- [%s](#%s), %s: %s\n", r.Name, r.Name, r.Source, r.Verdict)
	}
	for i := range results {
		r := &results[i]
		fmt.Fprintf(&b, "\n## %s\n\n**%s** (%s). %s\n\n", r.Name, r.Title, r.Source, r.Shows)
		b.WriteString(r.Render(report.Markdown))
		for _, p := range r.Plots {
			fmt.Fprintf(&b, "\n![%s](%s/%s.svg)\n", p.Name, plotFolder, p.Name)
		}
	}
	return b.String()
}

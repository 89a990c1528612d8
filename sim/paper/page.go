package paper

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/wanderd/wanderd/sim/report"
)

// The page and the folder of its plots, in the folder that WritePage is given.
const (
	pageName   = "paper.md"
	plotFolder = "plots"
)

// WritePage runs all experiments and writes them, with their plots, to paper.md and plots/*.svg in a folder that is there.
// Whether they can be written it finds out before the runs. The same options give the same bytes. When ctx is cancelled,
// nothing is written that was not there before. o.Progress is told of thousandths of an experiment.
func WritePage(ctx context.Context, folder string, o Options) error {
	page, err := report.Create(filepath.Join(folder, pageName))
	if err != nil {
		return err
	}
	defer page.Discard()
	plots := filepath.Join(folder, plotFolder)
	if err := os.MkdirAll(plots, 0o755); err != nil {
		return fmt.Errorf("the plots need a folder: %w", err)
	}
	results, err := runAll(ctx, o)
	if err != nil {
		return err
	}
	if err := writePlots(plots, results); err != nil {
		return err
	}
	if _, err := io.WriteString(page, pageOf(results)); err != nil {
		return err
	}
	return page.Commit()
}

func runAll(ctx context.Context, o Options) ([]Result, error) {
	const whole = 1000
	var results []Result
	experiments := List()
	for i, e := range experiments {
		own := o
		if o.Progress != nil {
			own.Progress = func(done, all int) { o.Progress(i*whole+done*whole/all, len(experiments)*whole) }
		}
		r, err := e.Run(ctx, own)
		if err != nil {
			return nil, err
		}
		results = append(results, r)
	}
	return results, nil
}

func writePlots(folder string, results []Result) error {
	for i := range results {
		for _, p := range results[i].Plots {
			if err := writePlot(filepath.Join(folder, p.Name+"."+string(report.SVG)), p.Chart); err != nil {
				return err
			}
		}
	}
	return nil
}

func writePlot(path string, chart report.Chart) error {
	var image bytes.Buffer
	if err := report.WriteImage(&image, chart, report.SVG); err != nil {
		return fmt.Errorf("%s cannot be drawn: %w", path, err)
	}
	out, err := report.Create(path)
	if err != nil {
		return err
	}
	defer out.Discard()
	if _, err := out.Write(image.Bytes()); err != nil {
		return err
	}
	return out.Commit()
}

// pageOf is the page.
func pageOf(results []Result) string {
	var b strings.Builder
	b.WriteString("# The paper's evaluation, repeated\n\n" +
		"Augusto Ciuffoletti, *The wandering token*, evaluates the algorithm by a simulator that was not published. Here are its tables " +
		"and figures beside what wanderd's own machines do: the same code that the agent runs, message by message, in virtual time. A " +
		"unit of the paper is a second. Measured is the mean over seeds, ± half of its 95 % confidence interval.\n\n" +
		"This page is written by `wanderd sim run --all --write docs`; nothing on it is typed by hand. One experiment alone: " +
		"`wanderd sim run NAME`.\n\n")
	for i := range results {
		e := &results[i].Experiment
		fmt.Fprintf(&b, "- [%s](#%s), %s: %s\n", e.Name, e.Name, e.Source, results[i].Verdict)
	}
	for i := range results {
		e := &results[i].Experiment
		fmt.Fprintf(&b, "\n## %s\n\n**%s** (%s). %s\n\n", e.Name, e.Title, e.Source, e.Shows)
		b.WriteString(results[i].Render(report.Markdown))
		for _, p := range results[i].Plots {
			fmt.Fprintf(&b, "\n![%s](%s/%s.svg)\n", p.Name, plotFolder, p.Name)
		}
	}
	return b.String()
}

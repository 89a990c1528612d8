package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/sim/study"
	"github.com/wanderd/wanderd/sim/study/beyond"
	"github.com/wanderd/wanderd/sim/study/paper"
	"github.com/wanderd/wanderd/sim/study/report"
	"github.com/wanderd/wanderd/sim/study/siblings"
)

// experimentPages are the pages of the docs that have experiments.
func experimentPages() []study.Page {
	return []study.Page{paper.Page(), beyond.Page(), siblings.Page()}
}

func (p *program) newSimListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the experiments",
		Long: `List the experiments of "wanderd sim run": their names, what they are about, and where
that stands in its paper. Those that begin with "beyond" measure what wanderd does where
the paper of the wandering token ends; those that begin with "ring" repeat papers on token
rings.`,
		Example: "  wanderd sim list",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			var b strings.Builder
			for _, page := range experimentPages() {
				for _, e := range page.Experiments {
					fmt.Fprintf(&b, "%-17s %s (%s)\n", e.Name, e.Title, e.Source)
				}
			}
			_, err := io.WriteString(p.stdout, b.String())
			return err
		},
	}
}

// experimentRun is what is to be run, and what becomes of it.
type experimentRun struct {
	all bool
	// many says that there is more than one experiment to run.
	many    bool
	seeds   int
	out     simOutput
	plotDir string
	write   string
}

func (p *program) newSimRunCommand() *cobra.Command {
	var run experimentRun
	cmd := &cobra.Command{
		Use:   "run NAME",
		Short: "Run an experiment",
		Long: `Run an experiment: of the paper, whose published numbers and those of wanderd's own
machines are put side by side, with what of it is not reproduced, and why as far as
that is known; of what wanderd does beyond it, with what was to be reached; or of the
papers on other token protocols. "wanderd sim list" has the names; paper, beyond and
siblings stand for all of the one kind.

With --write it makes the page about them anew, as paper.md, with its plots in a folder
plots. The same seeds give the same page.`,
		Example: `  wanderd sim run wander-stable
  wanderd sim run beyond-loss --seeds 3 --plot-dir plots
  wanderd sim run beyond --write docs
  wanderd sim run --all --write docs`,
		Args: run.checkArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := run.check(cmd.Flags().Changed("seeds"), cmd.Flags().Changed("format")); err != nil {
				return usageError{err}
			}
			pages, err := run.chosen(args)
			if err != nil {
				return usageError{err}
			}
			if run.write != "" {
				return p.writePages(cmd.Context(), pages, &run)
			}
			return p.runExperiments(cmd.Context(), pages, &run)
		},
	}
	cmd.Flags().BoolVar(&run.all, "all", false, "Run all experiments, one after the other.")
	cmd.Flags().IntVar(&run.seeds, "seeds", 0, "Run `COUNT` seeds; as many as on the page in the docs if it is left out.")
	cmd.Flags().Lookup("seeds").DefValue = ""
	cmd.Flags().BoolVar(&run.out.asJSON, "json", false, "Print JSON. Of plots it has the numbers.")
	addFormatFlag(cmd, &run.out.format)
	cmd.Flags().StringVar(&run.plotDir, "plot-dir", "", "Draw the plots into `FOLDER`, as .svg and as .png files.")
	cmd.Flags().StringVar(&run.write, "write", "",
		"With paper, beyond, siblings or --all: write the page and its plots into `FOLDER`, and print nothing.")
	return cmd
}

func (r *experimentRun) checkArgs(_ *cobra.Command, args []string) error {
	switch {
	case r.all && len(args) > 0:
		return fmt.Errorf("--all runs %s too: leave out the one or the other", args[0])
	case !r.all && len(args) == 0:
		return fmt.Errorf("which experiment? There are %s, or --all", strings.Join(study.Names(experimentPages()), ", "))
	case len(args) > 1:
		return fmt.Errorf("one experiment at a time, or --all: %s and %s are two", args[0], args[1])
	}
	return nil
}

// chosen returns what is to be run; a single experiment as a page without a name.
func (r *experimentRun) chosen(args []string) ([]study.Page, error) {
	pages := experimentPages()
	if r.all {
		return pages, nil
	}
	page, err := study.Find(pages, args[0])
	if err == nil && page.Name == "" && r.write != "" {
		err = errors.New("--write makes a page of all experiments of a kind: name paper, beyond or siblings, or take --all")
	}
	return []study.Page{page}, err
}

func (r *experimentRun) check(seedsGiven, formatGiven bool) error {
	switch {
	case seedsGiven && r.seeds < 1:
		return fmt.Errorf("--seeds %d: it takes at least one", r.seeds)
	case r.write != "" && (r.plotDir != "" || r.out.asJSON || formatGiven):
		return errors.New("--write makes a page of its own form: leave out --plot-dir, --json and --format")
	}
	return r.out.check(formatGiven)
}

func (r *experimentRun) options(progress *report.Progress) study.Options {
	return study.Options{
		Seeds: r.seeds, Progress: func(done, all int) { progress.Reached(float64(done) / float64(all)) },
	}
}

func (p *program) writePages(ctx context.Context, pages []study.Page, run *experimentRun) error {
	progress := p.progress("all experiments")
	defer progress.Done()
	return study.Write(ctx, run.write, pages, run.options(progress))
}

// runExperiments runs and prints one experiment after the other, and what there is of one that a signal ends.
func (p *program) runExperiments(ctx context.Context, pages []study.Page, run *experimentRun) error {
	var experiments []study.Experiment
	for _, page := range pages {
		experiments = append(experiments, page.Experiments...)
	}
	run.many = len(experiments) > 1
	if err := checkFolder(run.plotDir); err != nil {
		return err
	}
	var results []study.Result
	var stopped error
	for i, e := range experiments {
		progress := p.progress(e.Name)
		var result study.Result
		result, stopped = e.Run(ctx, run.options(progress))
		progress.Done()
		if result.Runs == 0 {
			break
		}
		results = append(results, result)
		if err := run.print(p.stdout, result, i > 0); err != nil {
			return err
		}
		if run.plotDir != "" {
			if err := result.Draw(run.plotDir, report.SVG, report.PNG); err != nil {
				return err
			}
		}
		if stopped != nil {
			break
		}
	}
	if err := run.printJSON(p.stdout, results); err != nil {
		return err
	}
	return stopped
}

// print prints one result, if not all are printed as JSON at the end.
func (r *experimentRun) print(w io.Writer, result study.Result, again bool) error {
	if r.out.asJSON {
		return nil
	}
	var b strings.Builder
	if again {
		b.WriteString("\n")
	}
	format := report.Format(r.out.format)
	if r.many && format != report.CSV {
		fmt.Fprintf(&b, "## %s\n\n", result.Experiment.Name)
	}
	b.WriteString(result.Render(format))
	if format == report.Text {
		for _, plot := range result.Plots {
			b.WriteString("\n" + plot.Chart.Terminal(chartWidth(w)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printJSON prints an object, or an array of all of them.
func (r *experimentRun) printJSON(w io.Writer, results []study.Result) error {
	switch {
	case !r.out.asJSON || len(results) == 0:
		return nil
	case r.many:
		return report.WriteJSON(w, results)
	}
	return report.WriteJSON(w, results[0])
}

// chartWidth is how wide a chart is drawn with letters: as the terminal, or as one usually is.
func chartWidth(w io.Writer) int {
	const usual, most = 80, 120
	if f, ok := w.(*os.File); ok {
		if columns := report.Columns(f); columns > 0 {
			return min(columns, most)
		}
	}
	return usual
}

// checkFolder makes a folder for plots, and makes sure that files can be written into it. The name may be empty.
func checkFolder(name string) error {
	if name == "" {
		return nil
	}
	if err := os.MkdirAll(name, 0o755); err != nil {
		return fmt.Errorf("--plot-dir: the folder cannot be made; name another one: %w", err)
	}
	probe, err := report.Create(filepath.Join(name, "plot.svg"))
	if err != nil {
		return fmt.Errorf("--plot-dir: %w", err)
	}
	probe.Discard()
	return nil
}

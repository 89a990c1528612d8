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

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/lab/study/beyond"
	"github.com/wanderd/wanderd/lab/study/compare"
	"github.com/wanderd/wanderd/lab/study/paper"
	"github.com/wanderd/wanderd/lab/study/siblings"
	"github.com/wanderd/wanderd/sim/report"
)

// experimentPages returns the pages of the docs that have experiments.
func experimentPages() []study.Page {
	return []study.Page{paper.Page(), beyond.Page(), siblings.Page(), compare.Page()}
}

func (p *program) newListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the experiments",
		Long: `List the experiments of "wanderlab run": their names, subjects and sources in their
papers. Names with "beyond" measure features of wanderd that the paper of the wandering
token does not have; names with "ring" or "tree" repeat other papers.`,
		Example: "  wanderlab list",
		Args:    cli.NoArgs,
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

type experimentRun struct {
	all     bool
	seeds   int
	out     report.Shape
	plotDir string
	write   string
}

func (p *program) newRunCommand() *cobra.Command {
	var run experimentRun
	cmd := &cobra.Command{
		Use:   "run NAME",
		Short: "Run an experiment",
		Long: `Run an experiment. "wanderlab list" lists them. Experiments of the paper show its
published figures beside those of wanderd, and explain the differences as far as they are
known. Experiments beyond the paper have goals of their own. Others are from papers on
other token protocols. The names paper, beyond and siblings each mean all experiments of
that kind.

With --write it writes their page again, such as paper.md, with its plots in the folder
plots. The same seeds give the same page.`,
		Example: `  wanderlab run wander-stable
  wanderlab run beyond-loss --seeds 3 --plot-dir plots
  wanderlab run beyond --write docs
  wanderlab run --all --write docs`,
		Args: run.checkArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := run.check(cmd.Flags().Changed("seeds"), cmd.Flags().Changed("format")); err != nil {
				return cli.UsageError(err)
			}
			pages, err := run.chosen(args)
			if err != nil {
				return cli.UsageError(err)
			}
			if run.write != "" {
				progress := p.progress("all experiments")
				defer progress.Done()
				return study.Write(cmd.Context(), run.write, pages, run.options(progress))
			}
			return p.runExperiments(cmd.Context(), pages, &run)
		},
	}
	cmd.Flags().BoolVar(&run.all, "all", false, "Run all experiments, one after the other.")
	cmd.Flags().IntVar(&run.seeds, "seeds", 0, "Run `COUNT` seeds; by default as many as on the page in the docs.")
	cmd.Flags().Lookup("seeds").DefValue = ""
	cmd.Flags().BoolVar(&run.out.JSON, "json", false, "Print JSON. It contains the numbers of the plots.")
	cmd.Flags().StringVar((*string)(&run.out.Format), "format", string(report.Text),
		fmt.Sprintf("Print in this `FORMAT`: %s, %s or %s.", report.Text, report.Markdown, report.CSV))
	cmd.Flags().StringVar(&run.plotDir, "plot-dir", "", "Draw the plots into `FOLDER`, as .svg files.")
	cmd.Flags().StringVar(&run.write, "write", "",
		"With paper, beyond, siblings, compare or --all: write the page and its plots into `FOLDER`, and print "+
			"nothing.")
	return cmd
}

func (r *experimentRun) checkArgs(_ *cobra.Command, args []string) error {
	switch {
	case r.all && len(args) > 0:
		return fmt.Errorf("--all runs %s too: omit one of them", args[0])
	case !r.all && len(args) == 0:
		return fmt.Errorf("name an experiment, or use --all: there are %s",
			strings.Join(study.Names(experimentPages()), ", "))
	case len(args) > 1:
		return fmt.Errorf("name one experiment, or use --all: %s and %s are two", args[0], args[1])
	}
	return nil
}

// chosen returns the pages to run. A single experiment is a page without a name.
func (r *experimentRun) chosen(args []string) ([]study.Page, error) {
	pages := experimentPages()
	if r.all {
		return pages, nil
	}
	page, err := study.Find(pages, args[0])
	if err == nil && page.Name == "" && r.write != "" {
		err = errors.New(
			"--write makes a page of all experiments of a kind: name paper, beyond, siblings or compare, or use --all")
	}
	return []study.Page{page}, err
}

func (r *experimentRun) check(seedsGiven, formatGiven bool) error {
	switch {
	case seedsGiven && r.seeds < 1:
		return fmt.Errorf("--seeds %d: must be at least 1", r.seeds)
	case r.write != "" && (r.plotDir != "" || r.out.JSON || formatGiven):
		return errors.New("--write has its own format: omit --plot-dir, --json and --format")
	}
	return r.out.Check(formatGiven)
}

func (r *experimentRun) options(progress *report.Progress) study.Options {
	return study.Options{
		Seeds: r.seeds, Progress: func(done, all int) { progress.Reached(float64(done) / float64(all)) },
	}
}

// runExperiments runs and prints the experiments one after the other. If a signal ends one of them, it prints the
// partial result.
func (p *program) runExperiments(ctx context.Context, pages []study.Page, run *experimentRun) error {
	var experiments []study.Experiment
	for _, page := range pages {
		experiments = append(experiments, page.Experiments...)
	}
	many := len(experiments) > 1
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
		if err := run.print(p.stdout, result, many, i > 0); err != nil {
			return err
		}
		if run.plotDir != "" {
			if err := result.Draw(run.plotDir); err != nil {
				return err
			}
		}
		if stopped != nil {
			break
		}
	}
	if run.out.JSON && len(results) > 0 {
		var document any = results
		if !many {
			document = results[0]
		}
		if err := cli.WriteJSON(p.stdout, document); err != nil {
			return err
		}
	}
	return stopped
}

// print prints one result, unless JSON is printed at the end.
func (r *experimentRun) print(w io.Writer, result study.Result, many, again bool) error {
	if r.out.JSON {
		return nil
	}
	var b strings.Builder
	if again {
		b.WriteString("\n")
	}
	if many && r.out.Format != report.CSV {
		fmt.Fprintf(&b, "## %s\n\n", result.Experiment.Name)
	}
	b.WriteString(result.Render(r.out.Format))
	if r.out.Format == report.Text {
		for _, plot := range result.Plots {
			b.WriteString("\n" + plot.Chart.Terminal(cli.ChartWidth(w)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// checkFolder makes a folder for plots, and checks that files can be written into it. The name may be empty.
func checkFolder(name string) error {
	if name == "" {
		return nil
	}
	if err := os.MkdirAll(name, 0o755); err != nil {
		return fmt.Errorf("--plot-dir: cannot make the folder; name another one: %w", err)
	}
	probe, err := report.Create(filepath.Join(name, "plot.svg"))
	if err != nil {
		return fmt.Errorf("--plot-dir: %w", err)
	}
	probe.Discard()
	return nil
}

package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/cli/usual"
	"github.com/wanderd/wanderd/cmd/wandersim/scenario"
	"github.com/wanderd/wanderd/cmd/wandersim/simulate"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim/report"
)

func (p *program) newSimCommand() *cobra.Command {
	flags, file, out := settings.Flags{}, "", simOutput{}
	cmd := &cobra.Command{
		Use:     "sim",
		Short:   "Simulate a fleet with faults",
		Long:    longSim,
		Example: exampleSim,
		Args:    cli.NoArgsButCommands,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := out.check(cmd.Flags().Changed("format")); err != nil {
				return cli.UsageError(err)
			}
			parameters, err := scenario.Read(flags, file)
			if err != nil {
				return cli.UsageError(err)
			}
			return p.simulate(cmd.Context(), parameters, out)
		},
	}
	addFormatFlag(cmd, &out.Format)
	cmd.Flags().BoolVar(&out.JSON, "json", false, "Print one JSON object.")
	cmd.Flags().StringVar(&out.plot, "plot", "",
		"Draw the intervals between two operations of one member into `FILE`, an .svg.")
	addScenarioFlags(cmd, flags, &file)
	return cmd
}

// addScenarioFlags adds the flags of a scenario to a command, except those in besides.
func addScenarioFlags(cmd *cobra.Command, flags settings.Flags, file *string, besides ...string) {
	flags.AddTo(cmd.Flags(), slices.DeleteFunc(scenario.Table(), func(s *settings.Setting) bool {
		return slices.Contains(besides, s.Key)
	}))
	cmd.Flags().StringVar(file, scenario.FileFlag, "",
		"Read parameters from the TOML file `FILE`. Its keys are the names of the flags below, with underscores; "+
			"flags win over it.")
}

func addFormatFlag(cmd *cobra.Command, format *report.Format) {
	cmd.Flags().StringVar((*string)(format), "format", string(report.Text),
		fmt.Sprintf("Print in this `FORMAT`: %s, %s or %s.", report.Text, report.Markdown, report.CSV))
}

type simOutput struct {
	report.Shape
	plot string
}

func (o *simOutput) check(formatGiven bool) error {
	if err := o.Check(formatGiven); err != nil {
		return err
	}
	if o.plot != "" {
		if err := report.CheckName(o.plot); err != nil {
			return fmt.Errorf("--plot: %w", err)
		}
	}
	return nil
}

// simulate runs a scenario and writes its result, also if a signal ends it early.
func (p *program) simulate(ctx context.Context, s scenario.Parameters, out simOutput) error {
	var plot *report.Output
	if out.plot != "" {
		if s.Policy != usual.PolicyWander {
			return cli.UsageError(fmt.Errorf("--plot draws the intervals of policy %s: leave it out",
				usual.PolicyWander))
		}
		var err error
		if plot, err = report.Create(out.plot); err != nil {
			return err
		}
		defer plot.Discard()
	}
	task := fmt.Sprintf("%d members", s.Members)
	if s.Seeds > 1 {
		task += fmt.Sprintf(", %d seeds", s.Seeds)
	}
	progress := p.progress(task)
	outcome, stopped := simulate.Run(ctx, s, progress.Reached)
	progress.Done()
	runs, complete := outcome.Count()
	if runs == 0 {
		return incomplete(stopped, complete, s.Seeds)
	}
	if err := out.write(p.stdout, outcome); err != nil {
		return err
	}
	result, wanders := outcome.(*simulate.Result)
	if trip := 2*s.Latency + s.Jitter; wanders && s.Members > 1 && wander.TooShort(s.Skip, trip) {
		_, _ = fmt.Fprintf(p.stderr, "warning: a skip of %v is too short for round trips of %v: handoffs, and the "+
			"recovery from a loss, wait for them; "+
			"the least that fits is %v\n", s.Skip, trip, wander.LeastSkip(trip))
	}
	if plot != nil {
		if err := plot.Draw(result.Chart()); err != nil {
			return err
		}
	}
	return incomplete(stopped, complete, s.Seeds)
}

// incomplete returns the error that tells how many runs are complete, if a signal has ended them early.
func incomplete(stopped error, complete, seeds int) error {
	if stopped != nil && seeds > 1 {
		return fmt.Errorf("%w: %d of %d runs are complete", stopped, complete, seeds)
	}
	return stopped
}

func (o *simOutput) write(w io.Writer, r simulate.Outcome) error {
	switch {
	case o.JSON:
		return cli.WriteJSON(w, r.Document())
	case o.Format == report.CSV:
		return simulate.WriteCSV(w, r.Document())
	}
	_, err := io.WriteString(w, r.Tables(o.Format))
	return err
}

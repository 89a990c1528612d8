package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/sim/hunt"
)

func (p *program) newHuntCommand() *cobra.Command {
	var o hunt.Options
	var policy string
	var core, byzantine bool
	t := settings.Table{
		settings.Row("policy", settings.Choice(&policy, huntedPolicies()...), huntedPolicies()[0],
			"How the token moves: "+strings.Join(huntedPolicies(), " or ")+".").As("NAME"),
		settings.Row("core", settings.Bool(&core), "false",
			"Let the faults end for a part of the fleet first, which has to go on (policy wander or call)."),
		settings.Row("liar", settings.Bool(&byzantine), "false",
			"Let one member lie, and nothing else go wrong (policy wander or call)."),
		settings.Row("guided", settings.Bool(&o.Guided), "false",
			"Make most fleets out of those in which rare branches met for the first time (policy wander or call)."),
		settings.Row("seed", settings.Count(&o.From, 1, math.MaxUint64), "1", "The first seed.").As("NUMBER"),
		settings.Ruled("seeds", settings.Count(&o.Seeds, 1, math.MaxUint64),
			fmt.Sprintf("%d without --for", hunt.DefaultSeeds),
			"The number of seeds."),
		settings.Ruled("for", settings.Positive(&o.For), "until all seeds are done",
			"Stop after this time; with --seeds, at the earlier end of both."),
	}
	cmd := &cobra.Command{
		Use:   "hunt",
		Short: "Look for a seed that breaks a rule",
		Long: `Look for a seed that breaks a rule of the protocol. Each seed draws every parameter of a
small fleet, and its faults. First there are faults, and checkers verify every step. Then
all faults end, and the fleet must make progress within a bound.

The hunt uses all cores. From time to time it prints its speed and which events have
occurred. At the end it prints how many fleets had each thing that few have. It stops at the
smallest seed that breaks a rule, with exit code 1. It then shows the rule, the parameters,
the last 50 lines of the trace, and the command that repeats this run. With policy wander or
call it also looks for a smaller scenario that breaks the same rule, and writes it to a file
for "wanderd sim trace --scenario".

With --guided the machines mark the rare branches that they take. A fleet in which one mark
followed another for the first time is kept, and three of four fleets are made out of kept
ones: with a few other values, with parts of another fleet, or with other random choices
from about the moment on at which something new happened. --seed and --seeds then determine
the hunt as a whole; what it finds is in a file, too. At the end it prints which marks were
never reached.

A hunt of ` + fmt.Sprint(hunt.DefaultSeeds) + ` seeds or more with policy wander also fails if some event never
occurred, because then it has not tested all rules.`,
		Example: `  wanderd sim hunt
  wanderd sim hunt --seeds 100000
  wanderd sim hunt --for 10m --seed 1000000
  wanderd sim hunt --policy call --seeds 10000
  wanderd sim hunt --policy call --core --for 10m
  wanderd sim hunt --policy call --guided --for 10m
  wanderd sim hunt --policy ring
  wanderd sim hunt --liar
  wanderd sim hunt --seed 1415 --seeds 1     # again, after a change`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if o.Subject, err = huntedIn(policy, core, byzantine); err != nil {
				return cli.UsageError(err)
			}
			if o.Guided && !o.Subject.Guidable() {
				return cli.UsageError(fmt.Errorf("--guided: the machines of %s mark no branches: omit it, or choose "+
					"--policy wander or call", o.Subject.Title()))
			}
			return p.hunt(cmd.Context(), o)
		},
	}
	cli.WithTable(cmd, t, "hunt")
	return cmd
}

// huntedIn returns the subject that flags choose.
func huntedIn(policy string, core, byzantine bool) (hunt.Subject, error) {
	switch {
	case core && byzantine:
		return hunt.Subject{}, errors.New("--core and --liar exclude each other: choose one")
	case core:
		return subjectOf("--core", policy, hunt.Core)
	case byzantine:
		return subjectOf("--liar", policy, hunt.Byzantine)
	}
	return subjectOf("--policy", policy, hunt.Plain)
}

// subjectOf returns the subject of a world. The flag is the one to blame.
func subjectOf(flag, policy string, world hunt.World) (hunt.Subject, error) {
	subject, err := hunt.SubjectOf(policy, world)
	if err != nil {
		err = fmt.Errorf("%s: %w", flag, err)
	}
	return subject, err
}

// huntedPolicies are the names of the subjects; the first is the default.
func huntedPolicies() []string {
	var names []string
	for _, f := range hunt.Subjects() {
		names = append(names, f.Name)
	}
	return names
}

// The intervals of a hunt's progress: on a terminal, where one line changes, and elsewhere, where each adds a line.
const (
	huntRefresh = 200 * time.Millisecond
	huntLine    = 10 * time.Second
)

func (p *program) hunt(ctx context.Context, o hunt.Options) error {
	began := p.now()
	last, every, before, after := began, huntLine, "", "\n"
	if cli.Columns(p.stderr) > 0 {
		every, before, after = huntRefresh, "\r\x1b[K", ""
	}
	o.Progress = func(r *hunt.Report) {
		if now := p.now(); now.Sub(last) >= every {
			last = now
			_, _ = fmt.Fprint(p.stderr, before+huntText(r, now.Sub(began))+after)
		}
	}
	r := hunt.Run(ctx, o)
	if last != began {
		_, _ = fmt.Fprint(p.stderr, before)
	}
	if err := p.concludeHunt(r, p.now().Sub(began)); err != nil {
		return err
	}
	return context.Cause(ctx)
}

func (p *program) concludeHunt(r *hunt.Report, elapsed time.Duration) error {
	text := huntText(r, elapsed) + "\n" + piecesText(r) + marksText(r)
	if r.Failure != nil {
		text += "\n" + r.Failure.String() + wholeText(r.Failure) + smallerText(r.Failure)
	}
	if _, err := io.WriteString(p.stdout, text); err != nil {
		return err
	}
	return r.Err()
}

// smallerText writes a smaller scenario that breaks the same rule to a file, and returns it.
func smallerText(f *hunt.Failure) string {
	if f.Smaller == nil {
		return ""
	}
	text := f.Smaller()
	name, err := scenarioFile(text)
	if err != nil {
		return fmt.Sprintf("\n%s\nThis scenario is in no file: %v\n", text, err)
	}
	return fmt.Sprintf("\n%s\nsmaller: wanderd sim trace --scenario %s\n", text, name)
}

// wholeText writes the scenario of a guided hunt to a file, before it is made smaller.
func wholeText(f *hunt.Failure) string {
	if f.Scenario == "" {
		return ""
	}
	name, err := scenarioFile(f.Scenario)
	if err != nil {
		return fmt.Sprintf("\n%s\nThis scenario is in no file: %v\n", f.Scenario, err)
	}
	return fmt.Sprintf("trace:   wanderd sim trace --scenario %s\n", name)
}

// scenarioFile writes a scenario to a new file, and returns its name.
func scenarioFile(text string) (name string, err error) {
	file, err := os.CreateTemp("", "scenario-*.toml")
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(text)
	return file.Name(), errors.Join(err, file.Close())
}

// marksText writes which rare branches were never taken.
func marksText(r *hunt.Report) string {
	if r.Marks == nil {
		return ""
	}
	never := r.Names.Never(r.Marks)
	text := fmt.Sprintf("\n%d of %d marks were reached, in %d pairs", len(r.Names)-len(never), len(r.Names),
		r.Marks.Pairs())
	if r.Kept > 0 {
		text += fmt.Sprintf("; %d fleets are kept", r.Kept)
	}
	if len(never) > 0 {
		text += "; never reached:\n\n    " + strings.Join(never, "\n    ")
	}
	return text + "\n"
}

// piecesText writes how often the seeds have drawn what few fleets have.
func piecesText(r *hunt.Report) string {
	if r.Coverage == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n   fleets  with\n")
	for _, c := range r.Coverage.Pieces() {
		fmt.Fprintf(&b, "%9d  %s\n", c.Times, c.What)
	}
	return b.String()
}

func huntText(r *hunt.Report, elapsed time.Duration) string {
	covered := ""
	if r.Coverage != nil {
		counts, missing := len(r.Coverage.Counts()), len(r.Coverage.Missing())
		covered = fmt.Sprintf("; %d of %d things have occurred", counts-missing, counts)
	}
	seeds := fmt.Sprintf("%d seeds", r.Seeds)
	if r.Seeds == 1 {
		seeds = "1 seed"
	}
	rate := 0.0
	if elapsed > 0 {
		rate = float64(r.Seeds) / elapsed.Seconds()
	}
	return fmt.Sprintf("%s, %.0f a second; %.3g million steps, %.3g days simulated%s",
		seeds, rate, float64(r.Steps)/1e6, r.Simulated/86400, covered)
}

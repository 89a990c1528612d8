package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/cli/usual"
	"github.com/wanderd/wanderd/cmd/wandersim/scenario"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	calling "github.com/wanderd/wanderd/sim/fleet/call"
	treeing "github.com/wanderd/wanderd/sim/fleet/tree"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/sim/hunt"
	"github.com/wanderd/wanderd/sim/reduce"
	"github.com/wanderd/wanderd/sim/trace"
)

// toldOfScenario is the default duration of the trace of a scenario.
const toldOfScenario = time.Minute

type telling struct {
	flags     settings.Flags
	file      string
	format    string
	limit     time.Duration
	byzantine bool
	core      bool
}

func (p *program) newTraceCommand() *cobra.Command {
	t := telling{flags: settings.Flags{}}
	own := settings.Table{
		settings.Ruled("for", settings.Positive(&t.limit), "all of a hunt's run, and a minute of a scenario",
			"Trace this much of the fleet's time."),
		settings.Row("core", settings.Bool(&t.core), "false", "Trace the run of a hunt with --core."),
		settings.Row("liar", settings.Bool(&t.byzantine), "false", "Trace the run of a hunt with --liar."),
	}
	cmd := &cobra.Command{
		Use:   "trace [EXCERPT]",
		Short: "Trace one run, step by step",
		Long: `Trace one run, step by step: as text, with a line for each event and below it the
actions of the member; or as a sequence diagram in the language of Mermaid.

With --seed (and --policy) it traces the run of "wanderd sim hunt" with this seed, to its
end or for the time in --for. So it does with a scenario that a hunt has written in
--scenario. The exit code is 1 if the run breaks a rule. With any other
parameter, or with a file, it traces the run of "wanderd sim": its first
minute, or the time in --for. With the name of an excerpt it shows that part of a run:

` + excerptLines() + `
Members are called a, b, c…; tokens T1, T2…, the number of the run behind #; handoffs
h1, h2… in the order in which they appear.`,
		Example: `  wanderd sim trace --seed 1415
  wanderd sim trace --seed 7 --liar
  wanderd sim trace --members 3 --min-interval 10s --loss 20% --for 30s
  wanderd sim trace --policy call --members 4 --demand 10s --for 30s
  wanderd sim trace --members 3 --format mermaid --for 20s > run.mmd
  wanderd sim trace ` + excerpts()[0].Name,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := t.flags.Read(own, "command line"); err != nil {
				return cli.UsageError(err)
			}
			format, err := trace.ParseFormat(t.format)
			if err != nil {
				return cli.UsageError(fmt.Errorf("--format: %w", err))
			}
			w := bufio.NewWriter(p.stdout)
			if len(args) > 0 {
				err = t.excerpt(w, args[0], format)
			} else {
				err = t.run(cmd.Context(), w, format)
			}
			return errors.Join(err, w.Flush())
		},
	}
	cmd.Flags().StringVar(&t.format, "format", string(trace.FormatText),
		fmt.Sprintf("The `FORMAT`: %s or %s.", trace.FormatText, trace.FormatMermaid))
	t.flags.AddTo(cmd.Flags(), own)
	addScenarioFlags(cmd, t.flags, &t.file, "seeds")
	return cmd
}

// excerpts returns the excerpts of all protocols.
func excerpts() []trace.Excerpt { return slices.Concat(wandering.Excerpts(), calling.Excerpts()) }

func excerptLines() string {
	var b strings.Builder
	for _, s := range excerpts() {
		about := strings.Join(cli.Wrap(s.About, cli.HelpWidth-12), "\n"+strings.Repeat(" ", 11))
		fmt.Fprintf(&b, "  %-8s %s\n", s.Name, about)
	}
	return b.String()
}

func (t *telling) excerpt(w io.Writer, name string, format trace.Format) error {
	if t.flags.Given() || t.file != "" {
		return cli.UsageError(fmt.Errorf("the excerpt %q has no parameters: omit all flags but --format", name))
	}
	excerpt, err := trace.Find(excerpts(), name)
	if err != nil {
		return cli.UsageError(err)
	}
	return excerpt.Write(w, format)
}

// hunted returns the subject of a file that a hunt has written. The subject has no name if the file is another one.
func (t *telling) hunted() (one hunt.Subject, err error) {
	if t.file == "" {
		return one, nil
	}
	file, unread := settings.ReadFile(t.file, "the scenario", scenario.FileFlag)
	if unread != nil || reduce.Kind(file.Content) == "" {
		return one, nil // [scenario.Read] says what is wrong with it.
	}
	if t.flags.Given("for") {
		return one, fmt.Errorf("%s is of a hunt, and has all its parameters: omit all flags but --for and --format",
			t.file)
	}
	if one, err = hunt.Read(file.Content); err != nil {
		err = fmt.Errorf("%s: %w", t.file, err)
	}
	return one, err
}

func (t *telling) run(ctx context.Context, w io.Writer, format trace.Format) error {
	switch one, err := t.hunted(); {
	case err != nil:
		return cli.UsageError(err)
	case one.Name != "":
		return t.explored(ctx, one, 0, t.file, trace.NewWriter(w, format, one.Words))
	}
	parameters, err := scenario.Read(t.flags, t.file)
	if err != nil {
		return cli.UsageError(err)
	}
	subject, err := huntedIn(parameters.Policy, t.core, t.byzantine)
	if err != nil {
		return cli.UsageError(err)
	}
	writer := trace.NewWriter(w, format, subject.Words)
	if t.flags.Given("seed", "for", "policy", "core", "liar") || t.file != "" {
		parameters.Duration = min(parameters.Duration, cmp.Or(t.limit, toldOfScenario))
		if err := measured(ctx, &parameters, writer); ctx.Err() == nil {
			return err
		}
		return context.Cause(ctx)
	}
	return t.explored(ctx, subject, parameters.Seed, fmt.Sprintf("seed %d", parameters.Seed), writer)
}

// explored traces the run of a hunt.
func (t *telling) explored(ctx context.Context, subject hunt.Subject, seed uint64, of string, writer sim.Watcher,
) error {
	outcome := subject.Explore(seed, sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case t.limit > 0 && o.At > policy.Time(t.limit):
			return errTold
		}
		return writer.Watch(c, o)
	}))
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case outcome.Err != nil && !errors.Is(outcome.Err, errTold):
		return fmt.Errorf("%s: %w", of, outcome.Err)
	}
	return nil
}

func measured(ctx context.Context, parameters *scenario.Parameters, writer sim.Watcher) error {
	var err error
	switch parameters.Policy {
	case usual.PolicyCall:
		s := parameters.Call()
		_, err = s.Measure(ctx, nil, writer)
	case usual.PolicyRing:
		s := parameters.Ring()
		_, err = s.Measure(ctx, nil, writer)
	case usual.PolicyTree:
		_, err = treeing.NewWorld(parameters.Tree(), writer).RunFor(ctx, nil)
	default:
		s := parameters.World()
		_, err = s.Measure(ctx, nil, writer)
	}
	return err
}

// errTold ends a run after the requested time.
var errTold = errors.New("enough has been told")

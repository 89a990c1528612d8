package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/cmd/wanderd/settings"
)

// chosen says which runs of a history are shown.
type chosen struct {
	gate   string
	failed bool
	since  string
}

func (p *program) newHistoryCommand() *cobra.Command {
	var which chosen
	cmd := newAskCommand(p, &cobra.Command{
		Use:   "history",
		Short: "List the last runs on this host",
		Long: `List the last runs on this host, up to 1,000 for each gate: when each began, how long it
took, how it ended, and under which number. A failed run has the end of its output below
it. The agent keeps the history in the state directory, so a run that the agent or the
host did not survive is listed, too.

  exit       the exit status of the hook; - if there is none.
  cut short  timeout: hook_timeout struck. stopped: the agent was stopped, or the token
             has another holder. expired: the grant ended. not started: it could not be
             executed. agent died: the agent or the host was killed during the run.`,
		Example: `  wanderd history
  wanderd history --failed --since 2d
  wanderd history --json | jq '.gates[].runs[] | select(.error)'`,
	}, func(c *control.Client, ctx context.Context) (control.History, error) {
		since, err := which.begin(p.now())
		if err != nil {
			return control.History{}, err
		}
		h, err := c.History(ctx)
		if err != nil {
			return h, err
		}
		return which.from(h, since)
	}, func(w io.Writer, h control.History) error { return writeHistory(w, h, p.now()) })
	cmd.Flags().StringVar(&which.gate, "gate", "", "Only the runs of `gate`.")
	cmd.Flags().BoolVar(&which.failed, "failed", false, "Only the runs that failed or were cut short.")
	cmd.Flags().StringVar(&which.since, "since", "", "Only the runs that began within the last `duration`, such as 2d.")
	return cmd
}

// begin is when the first run to be shown began; zero for all.
func (c *chosen) begin(now time.Time) (time.Time, error) {
	if c.since == "" {
		return time.Time{}, nil
	}
	d, err := settings.ParseDuration(c.since)
	if err != nil {
		return time.Time{}, usageError{fmt.Errorf("--since: %w", err)}
	}
	return now.Add(-d), nil
}

// from takes the chosen runs of a history.
func (c *chosen) from(h control.History, since time.Time) (control.History, error) {
	var names []string
	for i := range h.Gates {
		names = append(names, h.Gates[i].Name)
	}
	if c.gate != "" && !slices.Contains(names, c.gate) {
		return h, usageError{fmt.Errorf("--gate: there is no gate %q: %s", c.gate, settings.DidYouMean(c.gate, names, "there is "+strings.Join(names, ", ")))}
	}
	h.Gates = slices.DeleteFunc(h.Gates, func(g control.GateHistory) bool { return c.gate != "" && g.Name != c.gate })
	for i := range h.Gates {
		h.Gates[i].Runs = slices.DeleteFunc(h.Gates[i].Runs, func(r history.Run) bool {
			return r.Start.Before(since) || c.failed && !r.Failed()
		})
	}
	return h, nil
}

// writeHistory writes a history for people, in now's time zone.
func writeHistory(w io.Writer, h control.History, now time.Time) error {
	var b strings.Builder
	for i, g := range h.Gates {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "gate %s: %s\n", printable(g.Name), count(uint64(len(g.Runs)), "run"))
		row := func(began, took, exit, cut, number string) {
			fmt.Fprintf(&b, "  %-19s  %-12s  %-4s  %-11s  %s\n", began, took, exit, cut, number)
		}
		if len(g.Runs) > 0 {
			row("began", "took", "exit", "cut short", "number")
		}
		for _, r := range g.Runs {
			row(clock(r.Start, now), took(&r, now), exitText(&r), cutText(&r), strings.TrimSpace(strconv.FormatUint(r.Seq, 10)+"  "+printable(r.Command)))
			b.WriteString(whyFailed(&r))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func took(r *history.Run, now time.Time) string {
	switch {
	case r.Running():
		return rough(now.Sub(r.Start)) + " so far"
	case r.End.IsZero():
		return "-"
	}
	return r.Took().Round(time.Millisecond).String()
}

func exitText(r *history.Run) string {
	if r.Exit < 0 || r.Running() {
		return "-"
	}
	return strconv.Itoa(r.Exit)
}

func cutText(r *history.Run) string {
	if r.Cut == "" {
		return "-"
	}
	return printable(string(r.Cut))
}

// whyFailed is the lines below a failed run.
func whyFailed(r *history.Run) string {
	var b strings.Builder
	if r.Error != "" {
		fmt.Fprintf(&b, "      %s\n", printable(r.Error))
	}
	for _, line := range r.Output {
		fmt.Fprintf(&b, "      | %s\n", printable(line))
	}
	return b.String()
}

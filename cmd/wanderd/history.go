package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
)

type chosen struct {
	control.Which
	since string
}

func (p *program) newHistoryCommand() *cobra.Command {
	var which chosen
	var ofFleet bool
	cmd := newAskCommand(p, &cobra.Command{
		Use:        "history",
		SuggestFor: []string{"log", "logs", "runs"},
		Short:      "List the last runs on this host, or of the fleet",
		Long: `List the last runs on this host, up to 1,000 for each gate: when each began, how long it
took, how it ended, and under which number. A failed run has the end of its output below
it. The agent keeps the history in the state directory, so a run that the agent or the
host did not survive is listed, too. So is "wanderd pause --here", after which this host
skips its turns.

With --fleet the agent asks all members, and waits two seconds for their answers. The
output has the runs of all hosts, in the order of their clocks, and names the members that
do not answer. If the runs of a host do not fit into its answer, the oldest are left out,
and the output says so. Without a secret the output of failed runs stays on their hosts.

  exit       the exit status of the hook; - if there is none.
  cut short  timeout: it took longer than hook_timeout. stopped: the agent was stopped, or
             the token has another holder. expired: the grant ended. not started: it could
             not be executed. agent died: the agent or the host was killed during the run.`,
		Example: `  wanderd history
  wanderd history --failed --since 2d
  wanderd history --fleet --failed --since 1d
  wanderd history --json | jq '.gates[].runs[] | select(.error)'`,
	}, func(ctx context.Context, c *control.Client) (page, error) {
		if err := which.begin(p.now()); err != nil {
			return page{}, err
		}
		if ofFleet {
			h, err := c.FleetHistory(ctx, which.Which)
			hasRuns := func(m control.MemberHistory) bool { return m.History != nil && len(m.History.Gates) > 0 }
			if err == nil && which.Gate != "" && !slices.ContainsFunc(h.Members, hasRuns) {
				err = cli.UsageError(fmt.Errorf("--gate: no member that has answered has a gate %q", which.Gate))
			}
			return page{document: h, text: fleetHistoryText(&h, p.now())}, err
		}
		h, err := c.History(ctx)
		if err != nil {
			return page{}, err
		}
		if err := which.known(h.Gates); err != nil {
			return page{}, err
		}
		h = which.From(h)
		return page{document: h, text: historyText(h, p.now())}, nil
	})
	cmd.Flags().StringVar(&which.Gate, "gate", "", "Only the runs of `gate`.")
	cmd.Flags().BoolVar(&which.Failed, "failed", false, "Only the runs that failed or were cut short.")
	cmd.Flags().StringVar(&which.since, "since", "", "Only the runs that began within the last `duration`, such as 2d.")
	cmd.Flags().BoolVar(&ofFleet, "fleet", false, "Ask all members for their runs.")
	return cmd
}

// begin reads when the first run to be shown began.
func (c *chosen) begin(now time.Time) error {
	if c.since == "" {
		return nil
	}
	d, err := settings.ParseDuration(c.since)
	if err != nil {
		return cli.UsageError(fmt.Errorf("--since: %w", err))
	}
	c.Since = now.Add(-d)
	return nil
}

// known refuses a gate that this host does not have.
func (c *chosen) known(gates []control.GateHistory) error {
	var names []string
	for i := range gates {
		names = append(names, gates[i].Name)
	}
	if c.Gate == "" || slices.Contains(names, c.Gate) {
		return nil
	}
	return cli.UsageError(fmt.Errorf("--gate: there is no gate %q: %s", c.Gate,
		settings.DidYouMean(c.Gate, names, "there is "+strings.Join(names, ", "))))
}

func historyText(h control.History, now time.Time) string {
	var b strings.Builder
	for i, g := range h.Gates {
		if i > 0 {
			b.WriteByte('\n')
		}
		writeRuns(&b, g.Name, runsOf("", g.Runs), now)
	}
	return b.String()
}

// hostsRun is a run and its host; an empty host is this one.
type hostsRun struct {
	host string
	run  *history.Run
}

func runsOf(host string, runs []history.Run) (all []hostsRun) {
	for i := range runs {
		all = append(all, hostsRun{host, &runs[i]})
	}
	return all
}

// writeRuns writes the runs of a gate, and below each failed run the reason.
func writeRuns(b *strings.Builder, gate string, runs []hostsRun, now time.Time) {
	row := func(began, took, exit, cut, number, what string) {
		line := fmt.Sprintf("  %-19s  %-12s  %-4s  %-11s  %-10s  %s", began, took, exit, cut, number, what)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	n := slices.DeleteFunc(slices.Clone(runs), func(r hostsRun) bool { return r.run.Skip != nil })
	fmt.Fprintf(b, "gate %s: %s\n", printable(gate), count(uint64(len(n)), "run"))
	for i, r := range runs {
		head, what := "command", printable(r.run.Command)
		if r.host != "" {
			head, what = "host", strings.TrimSuffix(printable(r.host)+": "+what, ": ")
		}
		if by := r.run.OutsideWindow; by != "" {
			what = strings.TrimPrefix(what+", outside of the windows by order of "+printable(by), ", ")
		}
		if r.run.Stage != "" {
			what = strings.TrimPrefix(what+", "+printable(r.run.Stage), ", ")
		}
		if r.run.Reboot != nil {
			what = strings.TrimPrefix(what+", rebooted", ", ")
		}
		if i == 0 {
			row("began", "took", "exit", "cut short", "number", head)
		}
		if s := r.run.Skip; s != nil {
			what = strings.TrimPrefix(what+", "+skipText(s, now), ", ")
			row(clock(r.run.Start, now), "-", "-", "-", "-", what)
			continue
		}
		row(clock(r.run.Start, now), took(r.run, now), exitText(r.run), cmp.Or(printable(string(r.run.Cut)), "-"),
			strconv.FormatUint(r.run.Seq, 10), what)
		if r.run.Error != "" {
			fmt.Fprintf(b, "      %s\n", printable(r.run.Error))
		}
		for _, line := range r.run.Output {
			fmt.Fprintf(b, "      | %s\n", printable(line))
		}
	}
}

// skipText says that a host skips its turns, and why.
func skipText(s *history.Skip, now time.Time) string {
	text := "skips its turns by order of " + printable(s.By)
	if !s.Until.IsZero() {
		text += " until " + clock(s.Until, now)
	}
	if s.Reason != "" {
		text += ": " + printable(s.Reason)
	}
	return text
}

func took(r *history.Run, now time.Time) string {
	switch {
	case r.Running():
		return rough(now.Sub(r.Start)) + " so far"
	case r.End.IsZero():
		return "-"
	}
	return format(control.Duration(r.Took()))
}

func exitText(r *history.Run) string {
	if r.Exit < 0 || r.Running() {
		return "-"
	}
	return strconv.Itoa(r.Exit)
}

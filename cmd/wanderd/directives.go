package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/membership/broadcast"
	"github.com/wanderd/wanderd/policy"
)

// pausedFor is how long a pause lasts by default.
const pausedFor = 24 * time.Hour

// forEver is what an operator writes for a pause that does not end by itself.
const forEver = "ever"

func (p *program) newPauseCommand() *cobra.Command {
	directive, lasts := control.Directive{Pause: true}, ""
	cmd := p.directiveCommand(&cobra.Command{
		Use:        "pause",
		SuggestFor: []string{"hold", "skip", "stop"},
		Short:      "Pause a gate, on all hosts or on this one",
		Long: `Pause a gate: no host starts a run. A run that has started ends as usual, and the token
goes on. "wanderd exec" waits, or exits with status 75 under --nonblock. "wanderd status"
shows on every host who paused the gate, since when, why, and until when.

The directive reaches all hosts within a second or two, by gossip and with the token. A host
that was away learns of it before it runs. The newest directive counts, whoever gives it.
Without --gate it is for all gates of this host; with --all-gates for those of all hosts
that answer. Then the command waits until they obey, and names those that do not, and the
hosts that do not answer.

The pause ends after 24 hours, or after the time in --for, by the clock of each host. With
--for ever it lasts until somebody says "wanderd resume".

With --here only this host skips its turns, and the others go on.`,
		Example: `  wanderd pause --reason "the mirror is down, ticket 4711"
  wanderd pause --gate upgrade --for 14d
  wanderd pause --all-gates --reason "the network is being rebuilt"
  wanderd pause --here --for 3d --reason "this host is being repaired"`,
	}, &directive, "Why, for everybody who asks", func() error {
		if lasts == forEver {
			return nil
		}
		d, err := settings.ParseDuration(lasts)
		if err == nil && d <= 0 {
			err = errors.New("it must be greater than 0")
		}
		if err != nil {
			return cli.UsageError(fmt.Errorf("--for %s: %w; or say --for ever", lasts, err))
		}
		directive.For = control.Duration(d)
		return nil
	})
	cmd.Flags().StringVar(&lasts, "for", settings.FormatDuration(pausedFor),
		"How long it lasts: a `DURATION`, as in 90m or 14d; or ever.")
	return cmd
}

func (p *program) newResumeCommand() *cobra.Command {
	return p.directiveCommand(&cobra.Command{
		Use:        "resume",
		SuggestFor: []string{"release", "unpause"},
		Short:      "End the pause of a gate",
		Long: `End the pause of a gate on all hosts, or with --here the pause of this host only. This also
releases the brake (stop_after), and forgets the failures in a row. Without --gate it is
for all gates of this host, with --all-gates for those of all hosts. If there was nothing to
end, it says so.`,
		Example: `  wanderd resume
  wanderd resume --gate upgrade --reason "2.4.1 is out"`,
	}, &control.Directive{}, "Why, for the logs of all hosts", func() error { return nil })
}

// directiveCommand completes a command that gives a directive; why is what its reason explains, and read reads its
// other flags.
func (p *program) directiveCommand(cmd *cobra.Command, directive *control.Directive, why string,
	read func() error,
) *cobra.Command {
	cmd.Flags().StringVar(&directive.Gate, "gate", "", "The `GATE`; all gates of this host, if there is none.")
	cmd.Flags().BoolVar(&directive.Here, "here", false, "This host alone.")
	allGates := false
	cmd.Flags().
		BoolVar(&allGates, "all-gates", false, "All gates of the fleet, also those that this host does not have.")
	cmd.MarkFlagsMutuallyExclusive("all-gates", "gate")
	cmd.MarkFlagsMutuallyExclusive("all-gates", "here")
	cmd.Flags().StringVar(&directive.Reason, "reason", "", why+": a `TEXT` of at most 200 bytes.")
	return p.asking(cmd, func(ctx context.Context, client *control.Client) error {
		if err := read(); err != nil {
			return err
		}
		if n := len(directive.Reason); n > broadcast.MaxReason {
			return cli.UsageError(fmt.Errorf("--reason has %d bytes, and %d are allowed: shorten it", n,
				broadcast.MaxReason))
		}
		if allGates {
			return p.directAll(ctx, client, *directive)
		}
		before, err := client.Status(ctx)
		if err != nil {
			return err
		}
		if err := client.GiveDirective(ctx, *directive); err != nil {
			return err
		}
		s, err := client.Status(ctx)
		if err != nil {
			return err
		}
		for i := range s.Gates {
			if g := &s.Gates[i]; directive.Gate == "" || directive.Gate == g.Name {
				text, still := pausedText(g, p.now()), stillPaused(directive, g)
				if was := gateOf(&before, g.Name); still == "" && isVain(directive, was) {
					text = "was not paused: there was nothing to resume"
					if by := claimedBy(was); by != "" && !directive.Here {
						text = "was not paused; the interval of the run of " + printable(by) + " is over"
					}
				}
				_, _ = fmt.Fprintf(p.stdout, "gate %s %s%s\n", printable(g.Name), text, still)
			}
		}
		return nil
	})
}

// isVain reports whether a directive to resume a gate has nothing to end: no pause, and no failures in a row.
func isVain(directive *control.Directive, before *control.Gate) bool {
	switch {
	case directive.Pause || before == nil:
		return false
	case directive.Here:
		return before.PausedHere == nil
	}
	return before.Paused == nil && len(before.Failing) == 0
}

// claimedBy returns whose run counts for all hosts in the present interval, according to a strict gate; empty if
// nobody's does. To resume the gate ends that, too.
func claimedBy(g *control.Gate) string {
	if g == nil {
		return ""
	}
	for _, f := range g.Facts {
		if f.Name == policy.KeyClaimed.String() {
			return f.MemberName
		}
	}
	return ""
}

// stillPaused returns how to end a pause that a directive to resume has not ended: that of all hosts, or that of this
// host.
func stillPaused(directive *control.Directive, g *control.Gate) string {
	switch {
	case directive.Pause:
	case directive.Here && g.Paused != nil:
		return "; \"wanderd resume\" ends that"
	case !directive.Here && g.PausedHere != nil:
		return "; \"wanderd resume --here\" ends that"
	}
	return ""
}

func pausedText(g *control.Gate, now time.Time) string {
	switch {
	case g.Paused != nil && g.PausedHere != nil:
		return "is paused on all hosts " + pauseText(g.Paused, now) + "; and on this host " +
			pauseText(g.PausedHere, now)
	case g.Paused != nil:
		return "is paused on all hosts " + pauseText(g.Paused, now)
	case g.PausedHere != nil:
		return "is paused on this host " + pauseText(g.PausedHere, now)
	}
	return "is not paused"
}

// pauseText writes until when, by whom, since when and why a gate is paused.
func pauseText(p *control.Pause, now time.Time) string {
	until := "until somebody resumes it"
	if !p.Until.IsZero() {
		until = "until " + clock(p.Until, now)
	}
	text := fmt.Sprintf("%s, by %s at %s", until, printable(p.By), clock(p.Since, now))
	if p.Reason != "" {
		text += ": " + printable(p.Reason)
	}
	return text
}

func (p *program) newRunCommand() *cobra.Command {
	run := control.RunNow{}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Run the hook on this host as soon as possible, whatever min_interval says",
		Long: `Run the hook of a gate on this host as soon as the token is here, or a strict gate grants
it, whatever min_interval says. In a paused gate the run waits for the end of the pause.
If the gate has a ready command, the agent asks it first. If it says no, nothing runs, and
this command exits with its status, 75.

If the hook was not due, this run does not count for min_interval: the next run comes when
it would have come anyway. For the brake (stop_after) this run counts like any other.

With --outside-window this one run may begin although no window of the gate is open. The
status and the history name who has ordered it. Commands of callers wait on for a window.

With --wait the command waits until the run has ended, and exits with its status: 128 + N
if signal N killed it, 124 if it took longer than hook_timeout, 126 if it cannot be
executed. A signal to the command ends the wait, not the run.`,
		Example: `  wanderd run --gate upgrade --wait`,
	}
	cmd.Flags().StringVar(&run.Gate, "gate", "", "Which `GATE`, if this host has several.")
	cmd.Flags().BoolVar(&run.OutsideWindow, "outside-window", false, "Run although no window of the gate is open.")
	cmd.Flags().BoolVar(&run.Wait, "wait", false, "Wait for the end of the run, and exit with its status.")
	return p.asking(cmd, func(ctx context.Context, client *control.Client) error {
		ctx, stop := cli.UntilSignal(ctx, "wanderd", nil)
		defer stop()
		return p.runNow(ctx, client, run)
	})
}

func (p *program) runNow(ctx context.Context, client *control.Client, run control.RunNow) error {
	if s, err := client.Status(ctx); err == nil {
		for i := range s.Gates {
			if g := &s.Gates[i]; (run.Gate == "" || run.Gate == g.Name) && (g.Paused != nil || g.PausedHere != nil) {
				_, _ = fmt.Fprintf(p.stderr, "gate %s %s; the run waits until the pause ends\n", printable(g.Name),
					pausedText(g, p.now()))
			}
		}
	}
	end, err := client.RunNow(ctx, run)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case end.Unready:
		return cli.Exit(end.Exit, errors.New("the hook has not run: "+printable(end.Error)))
	case end.Ended && end.Exit != 0:
		return cli.Exit(end.Exit, errors.New("the hook failed: "+printable(end.Error)))
	}
	return nil
}

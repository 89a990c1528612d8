package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
)

func (p *program) newKeepCommand() *cobra.Command {
	var keep control.Keep
	lasts := ""
	cmd := p.asking(&cobra.Command{
		Use:   "keep --for DURATION",
		Short: "Within a run: keep its grant beyond its end, because this host goes down soon",
		Long: `Keep the grant of a run beyond its end, because its host goes down soon: for a hook, or a
command of "wanderd exec", in a gate with keep. From now on this host may take as long as
--for says until it goes down, and the run may end meanwhile, in whatever way. Then the
gate waits for the host as after any reboot under a grant. If it does not go down in time,
its grant goes back. At most the gate's keep can be asked for; the last word counts.

It exits with 0 when this is on the disk of this host, and those who keep the grant have
confirmed that they do: one of the token's guardians in a soft gate, a majority in a strict
one. With any other status the grant ends with the run; then do not reboot.`,
		Example: `  wanderd keep --for 10m --reason "a new kernel" && shutdown -r +5`,
	}, func(ctx context.Context, client *control.Client) error {
		if lasts == "" {
			return cli.UsageError(errors.New("for how long? Say so, as in --for 15m"))
		}
		d, err := settings.ParseDuration(lasts)
		if err != nil {
			return cli.UsageError(fmt.Errorf("--for %s: %w", lasts, err))
		}
		if n := len(keep.Reason); n > statedir.MaxReason {
			return cli.UsageError(fmt.Errorf("--reason has %d bytes, and %d are allowed: shorten it", n,
				statedir.MaxReason))
		}
		keep.For = control.Duration(d)
		if err := p.readGrant(&keep); err != nil {
			return err
		}
		ctx, stop := cli.UntilSignal(ctx, "wanderd", nil)
		defer stop()
		if err := client.Keep(ctx, keep); err != nil {
			return err
		}
		_, err = fmt.Fprintf(p.stdout, "the grant of gate %s is kept: this host may take until %s to go down\n",
			printable(keep.Gate), clock(p.now().Add(d), p.now()))
		return err
	})
	cmd.Flags().StringVar(&lasts, "for", "", "How long this host may take until it goes down: a `DURATION`, as in 15m.")
	cmd.Flags().StringVar(&keep.Reason, "reason", "",
		"Why, for \"wanderd status\" and the log: a `TEXT` of at most 200 bytes.")
	return cmd
}

// readGrant reads under which grant this process runs.
func (p *program) readGrant(keep *control.Keep) error {
	var seq string
	for _, entry := range p.environ {
		switch name, value, _ := strings.Cut(entry, "="); name {
		case "WANDERD_GATE":
			keep.Gate = value
		case "WANDERD_TOKEN":
			keep.Token = value
		case "WANDERD_SEQ":
			seq = value
		}
	}
	var err error
	if keep.Seq, err = strconv.ParseUint(seq, 10, 64); err != nil || keep.Gate == "" || keep.Token == "" {
		return cli.UsageError(errors.New("this runs under no grant (WANDERD_GATE, WANDERD_TOKEN and WANDERD_SEQ are " +
			"not set): call it from a hook, or from a command of \"wanderd exec\""))
	}
	return nil
}

// keptText describes a grant that outlives its host.
func keptText(k *control.Kept, now time.Time) string {
	until := "the others wait for it until " + clock(k.Until, now)
	if !k.Self && k.Until.Before(now) {
		until = "the others have waited for it until " + clock(k.Until, now) +
			", and go on when one of them wants to run"
	}
	switch name := printable(k.Name); {
	case k.Self:
		state := cmp.Or(k.State, "it outlives the host")
		if !k.Beyond.IsZero() {
			state = "its run keeps it until " + clock(k.Beyond, now) + ", beyond its end"
			if k.Reason != "" {
				state += " (" + k.Reason + ")"
			}
		}
		return fmt.Sprintf("the grant of this host: %s; %s, and longer while it is heard", printable(state), until)
	case k.IsAway():
		return fmt.Sprintf("%s is away %s; %s", name, since(k.AwaySince, now), until)
	case !k.BackSince.IsZero():
		return fmt.Sprintf("%s is back %s, and has not handed its grant back yet; it was away for %s", name,
			since(k.BackSince, now), rough(k.BackSince.Sub(k.AwaySince)))
	default:
		return fmt.Sprintf("the grant of %s outlives its host; %s, and longer while it is heard", name, until)
	}
}

// callerText names a caller's command, and its process if it has one on this host.
func callerText(c *control.Caller) string {
	if c.PID == 0 {
		return printable(c.Command)
	}
	return fmt.Sprintf("%s (%d)", printable(c.Command), c.PID)
}

// writeAround writes what a run holds besides its token, and what follows it.
func writeAround(line func(name, format string, args ...any), g *control.Gate, now time.Time) {
	also := slices.Clone(g.With)
	if g.Zone != "" {
		also = append(also, g.Zone)
	}
	if len(also) > 0 {
		line("with", "each run also holds %s", printable(strings.Join(also, ", ")))
	}
	if g.ZoneOf != "" {
		line("zone", "of this host; each run of gate %s here holds it", printable(g.ZoneOf))
	}
	writeCare(line, g.Care, now)
}

// writeCare writes how this host is looked after once its operation has succeeded.
func writeCare(line func(name, format string, args ...any), c *control.Care, now time.Time) {
	if c == nil {
		return
	}
	line("succeeded", "%s; nobody else starts before that is over", careText(c, now))
}

// careText says what a host that is looked after waits for.
func careText(c *control.Care, now time.Time) string {
	var parts []string
	if c.SoakUntil.After(now) {
		parts = append(parts, fmt.Sprintf("soaking for another %s (until %s)", rough(c.SoakUntil.Sub(now)),
			clock(c.SoakUntil, now)))
	}
	switch {
	case c.Answer != "":
		parts = append(parts, fmt.Sprintf("after said, %s: %s", ago(c.At, now), printable(c.Answer)))
	case len(parts) == 0:
		parts = append(parts, "after is being asked")
	}
	return strings.Join(parts, "; ")
}

// writeStage writes in which stage of the gate this host is, and who holds it up.
func writeStage(line func(name, format string, args ...any), s *control.Stage) {
	if s == nil {
		return
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s of %d, %s", printable(s.Name), s.Of, printable(s.Standing))
	for i, h := range s.HeldBy {
		join := ", "
		if i == 0 {
			join = "; waits for "
		}
		fmt.Fprintf(&text, "%s%s (%s)", join, printable(h.Name), printable(h.Why))
	}
	if s.More > 0 {
		fmt.Fprintf(&text, ", and %d more", s.More)
	}
	line("stage", "%s", text.String())
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/cli/usual"
	"github.com/wanderd/wanderd/cmd/wandersim/scenario"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/policy/window"
	"github.com/wanderd/wanderd/sim/plan"
	"github.com/wanderd/wanderd/sim/report"
	"github.com/wanderd/wanderd/wire"
)

const longPlan = `Predict the behaviour of a fleet before you deploy it, and choose its constants.

Give the number of members of the gate, the duration of a run, and how often each member
must run. After some seconds the answer contains

  the constants    walk, skip, min_interval, max_interval, backups, slots and hook_timeout,
                   as a part of a configuration file and as a command line
  what to expect   the share of time with a run, and with too many; how long members
                   wait for the token, and how far apart their runs are
  the network      datagrams and bytes, and an estimate for gossip
  what if          all members start at once; the holder of a token is killed; there
                   are twice as many members

With --once one run in each --every is enough for the whole fleet: the answer tells how
late it is, how often a second host runs, and what failures and a parted network cost.

For a gate without a hook give --demand in place of --every: how long after a run the next
caller of "wanderd exec" comes at a member. The answer is for a token that is called (policy
call): how long callers wait, how many runs an hour the gate can serve, what a run costs the
network, and how long the next caller waits after a loss.

The figures are measured: a simulation runs the agent's protocol code for a fixed number
of steps, and theory checks the result. For many thousand members that number is too
small: then the answer comes from theory, and says so. The same question always gets the
same answer.

--svg also draws the first night: who runs when, if all members are due when the window
opens, or at 20:00 without a window.

If the goal is impossible, the answer gives the reason and the nearest possible plan. It
also gives the smallest sufficient change of each of slots, members, op, every and skip.`

const examplePlan = `  400 hosts, a transfer of three minutes, once a day on each.
      wanderd plan --members 400 --op 3m --every 24h

  Too much load: by how much? And with two runs at once?
      wanderd plan --members 400 --op 3m --every 12h
      wanderd plan --members 400 --op 3m --every 12h --slots 2

  Commands of "wanderd exec", about three an hour on each host: how long do callers wait?
      wanderd plan --members 150 --op 4s --demand 20m

  In the nights of weekdays only: does every host get its turn in each night?
      wanderd plan --members 400 --op 3m --every 24h --slots 3 \
          --window "Mon..Fri 22:00-06:00 Europe/Berlin"

  The paper's random walk, a fixed skip, distant hosts on a lossy network.
      wanderd plan --members 150 --op 4s --every 15m --walk random --skip 1s \
          --latency 40ms --loss 1%

  Two canaries, then twenty, then the rest, half an hour apart; hosts that fail.
      wanderd plan --members 400 --op 3m --every 30d --soak 30m --first 2,20 \
          --max-down 2 --fails-every 60d --down-for 4h

  One of 40 hosts a day, whichever; hosts that fail once a month.
      wanderd plan --members 40 --op 10m --every 24h --once \
          --fails-every 30d --down-for 1h

  A picture of the first night.
      wanderd plan --members 100 --op 5m --every 24h --svg night.svg

  For scripts.
      wanderd plan --members 400 --op 3m --every 1d --json | jq -r .toml`

func newPlanCommand() *cobra.Command {
	w, demand, asJSON, picture := plan.Request{Seed: 1}, time.Duration(0), false, ""
	var first []string
	var slots scenario.Tokens
	var once bool
	cmd := &cobra.Command{
		Use:     "plan --members N --op DURATION {--every DURATION | --demand DURATION}",
		Short:   "Predict the behaviour of a fleet, and choose its constants",
		Long:    longPlan,
		Example: examplePlan,
		Args:    cli.NoArgsButCommands,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w.Slots, w.SlotsShare = slots.Number, slots.Percent
			switch {
			case once:
				return planOnce(cmd, &w, asJSON)
			case cmd.Flags().Changed("demand"):
				return planCallers(cmd, &w, demand, asJSON)
			}
			for _, text := range first {
				n, err := strconv.Atoi(text)
				if err != nil {
					return cli.UsageError(fmt.Errorf("--first: %q is no number of members", text))
				}
				w.First = append(w.First, n)
			}
			answer, err := plan.Plan(cmd.Context(), w)
			if _, ok := errors.AsType[*plan.Impossible](err); ok {
				return cli.UsageError(err)
			}
			if err == nil && picture != "" {
				err = drawNight(cmd.Context(), w, picture)
			}
			if err != nil {
				return err
			}
			if asJSON {
				return cli.WriteJSON(cmd.OutOrStdout(), answer)
			}
			return answer.Text(cmd.OutOrStdout())
		},
	}
	cli.WithTable(cmd, planTable(&w, &demand, &first, &slots, &once), "plan")
	cmd.Flags().BoolVar(&asJSON, "json", false, "Print one JSON object. Times are in seconds, shares from 0 to 1.")
	cmd.Flags().StringVar(&picture, "svg", "", "Write a picture of the first night into `file`.")
	cmd.AddCommand(newPlanBackupsCommand())
	return cmd
}

// planCallers answers a request for a gate on demand.
func planCallers(cmd *cobra.Command, w *plan.Request, demand time.Duration, asJSON bool) error {
	for _, other := range []string{
		"every", "walk", "window", "svg", "reboot-takes", "reboot-fails", "soak", "first",
		"max-down", "fails-every", "down-for", "zones", "per-zone",
	} {
		if cmd.Flags().Changed(other) {
			return cli.UsageError(fmt.Errorf("--%s is for a gate with a hook, and --demand for one with callers: "+
				"leave one of them out", other))
		}
	}
	answer, err := plan.ForCallers(cmd.Context(), plan.CallersRequest{
		Members: w.Members, Op: w.Op, Demand: demand, Backups: w.Backups, Slots: w.Slots, SlotsShare: w.SlotsShare,
		Skip:    w.Skip,
		Latency: w.Latency, Loss: w.Loss, Seed: w.Seed,
	})
	return show(cmd, &answer, err, asJSON)
}

// planOnce answers a request for a gate that runs once for the whole fleet.
func planOnce(cmd *cobra.Command, w *plan.Request, asJSON bool) error {
	for _, other := range []string{
		"demand", "walk", "window", "svg", "slots", "reboot-takes", "reboot-fails", "soak", "first", "max-down",
		"zones", "per-zone",
	} {
		if cmd.Flags().Changed(other) {
			return cli.UsageError(fmt.Errorf("--%s is for a gate in which each member has its turn, and --once for "+
				"one in which any member will do: leave one of them out", other))
		}
	}
	answer, err := plan.ForOnce(cmd.Context(), plan.OnceRequest{
		Members: w.Members, Op: w.Op, Every: w.Every, Backups: w.Backups, FailsEvery: w.FailsEvery, DownFor: w.DownFor,
		Skip: w.Skip, Latency: w.Latency, Loss: w.Loss, Seed: w.Seed,
	})
	return show(cmd, &answer, err, asJSON)
}

// show shows an answer, or why there is none.
func show(cmd *cobra.Command, answer interface{ Text(io.Writer) error }, err error, asJSON bool) error {
	if _, ok := errors.AsType[*plan.Impossible](err); ok {
		return cli.UsageError(err)
	}
	switch {
	case err != nil:
		return err
	case asJSON:
		return cli.WriteJSON(cmd.OutOrStdout(), answer)
	}
	return answer.Text(cmd.OutOrStdout())
}

func drawNight(ctx context.Context, w plan.Request, path string) error {
	out, err := report.Create(path)
	if err != nil {
		return err
	}
	defer out.Discard()
	night, err := plan.FirstNight(ctx, w)
	if err != nil {
		return err
	}
	if err := night.SVG(out); err != nil {
		return err
	}
	return out.Commit()
}

// planTable returns the flags of a request. Their defaults are those of the agent.
func planTable(w *plan.Request, demand *time.Duration, first *[]string, slots *scenario.Tokens, once *bool,
) settings.Table {
	return settings.Table{
		settings.Row("members", settings.Count(&w.Members, 0, math.MaxInt32), "",
			"How many members the gate has, up to 20000. Required.").As("NUMBER"),
		settings.Row("op", settings.Duration(&w.Op), "", "How long one run takes. Required."),
		settings.Row("once", settings.Bool(once), "false",
			"Whether one run in each interval (--every) is enough for the whole fleet."),
		settings.Row("reboot_takes", settings.Duration(&w.RebootTakes), "0s",
			"How long a host is away after each run, which reboots it. The others wait for it."),
		settings.Row("reboot_fails", settings.Share(&w.RebootFails), "0%",
			"The share of hosts that do not come back after a reboot. The others wait for keep.").
			Needing("reboot_takes"),
		settings.Row("soak", settings.Duration(&w.Soak), "0s",
			"How long a host is looked after once it has run, before the next one starts."),
		settings.Row("first", settings.List(first), "",
			"The sizes of the stages but the last, as in 2,50: two canaries, then fifty, then the rest.").
			As("NUMBER,NUMBER,..."),
		settings.Row("max_down", settings.Count(&w.MaxDown, 0, math.MaxInt32), "0",
			"How many members may be down when one starts, that one included. 0 is no limit.").As("NUMBER"),
		settings.Row("fails_every", settings.Duration(&w.FailsEvery), "0s",
			"The mean time from one failure of a host to its next one: tells what max_down costs, or once."),
		settings.Row("down_for", settings.Duration(&w.DownFor), "0s",
			"How long a host that has failed is down, on average.").Needing("fails_every"),
		settings.Row("every", settings.Duration(&w.Every), "", "The mean interval between two runs of each member; "+
			"the answer has the min_interval that leads to it. Required, or --demand."),
		settings.Row("demand", settings.Duration(demand), "", "How long after a run the next caller comes at a "+
			"member, on average: a plan for a gate without a hook, of policy call."),
		settings.Row("walk", settings.Choice(&w.Walk, wander.Walks()...), usual.Walk(), usual.WalkHelp),
		settings.Row("backups", settings.Count(&w.Backups, 0, guardian.MaxBackups), usual.Backups,
			fmt.Sprintf("How many guardians the token has, from 0, the plain paper, to %d.", guardian.MaxBackups)).
			As("NUMBER"),
		settings.Row("slots",
			slots.Value(), usual.Slots,
			fmt.Sprintf("How many members may run at once, 1 to %d, or a share of them as in 10%%.", wire.MaxSlots)),
		settings.Row("zones", settings.Count(&w.Zones, 0, math.MaxInt32), "0",
			"How many zones the members are in, evenly spread. 0 is no zones.").As("NUMBER").Needing("per_zone"),
		settings.Row("per_zone", settings.Count(&w.PerZone, 0, math.MaxInt32), "0",
			"How many members of one zone may run at once: fewer than slots.").As("NUMBER").Needing("zones"),
		settings.Row("skip", settings.Duration(&w.Skip), "",
			"How long the token rests at a member that is not due. If unset, the answer recommends one."),
		settings.Row("window", settings.Several((*[]window.Window)(&w.Windows), "WINDOW", usual.ParseWindow), "",
			"When the gate may run, as in \"Mon..Fri 22:00-06:00 Europe/Berlin\"; can be repeated. The answer says "+
				"whether every member gets its "+
				"turn in each night."),
		settings.Row("latency", settings.Duration(&w.Latency), "1ms", "How long a datagram takes between two members."),
		settings.Row("loss", settings.Share(&w.Loss), "0%", "The share of datagrams that are lost."),
	}
}

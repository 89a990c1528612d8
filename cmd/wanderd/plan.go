package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/cmd/wanderd/config"
	"github.com/wanderd/wanderd/cmd/wanderd/settings"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim/plan"
	"github.com/wanderd/wanderd/sim/study/report"
	"github.com/wanderd/wanderd/wire"
)

const longPlan = `Say what a fleet will do before you deploy it, and what to configure.

Tell how many members the gate will have, how long one run takes and how often each
member is to run. The answer, after some seconds, has

  the constants    walk, skip, min_interval, max_interval, backups, slots and hook_timeout,
                   as a part of a configuration file and as a command line
  what to expect   the share of time with a run, and with too many; how long members
                   wait for the token, and how far apart their runs are
  the network      datagrams and bytes, and an estimate of what gossip takes besides
  what if          all members start at once; the holder of a token is killed; there
                   are twice the members

The figures are measured: the fleet is simulated with the machines of the agent, for a
fixed amount of work, and theory stands beside as a check. Where that is not enough to
show anything, as with many thousand members that go round, the answer is from theory
and says so. The same question always gets the same answer.

Where the wish cannot be met the answer says why, what comes nearest, and for each of
slots, members, op, every and skip the smallest change that would do.`

const examplePlan = `  400 hosts, a transfer of three minutes, once a day on each.
      wanderd plan --members 400 --op 3m --every 24h

  Too much: by how much? And if two may run at once?
      wanderd plan --members 400 --op 3m --every 12h
      wanderd plan --members 400 --op 3m --every 12h --slots 2

  The paper's random walk, a given skip, hosts far apart on a poor network.
      wanderd plan --members 150 --op 4s --every 15m --walk random --skip 1s \
          --latency 40ms --loss 1%

  For scripts.
      wanderd plan --members 400 --op 3m --every 1d --json | jq -r .toml`

func newPlanCommand() *cobra.Command {
	w, asJSON := plan.Wish{Seed: 1}, false
	walk := walkFlag{&w.Walk}
	cmd := &cobra.Command{
		Use:     "plan --members N --op DURATION --every DURATION",
		Short:   "Say what a fleet will do, and what to configure",
		Long:    longPlan,
		Example: examplePlan,
		Args:    noArgsButCommands,
		RunE: func(cmd *cobra.Command, _ []string) error {
			answer, err := plan.Plan(cmd.Context(), w)
			if _, ok := errors.AsType[*plan.Impossible](err); ok {
				return usageError{err}
			}
			if err != nil {
				return err
			}
			if asJSON {
				return report.WriteJSON(cmd.OutOrStdout(), answer)
			}
			return answer.Text(cmd.OutOrStdout())
		},
	}
	// The defaults are the agent's own, so they can be read.
	agent := config.Table()
	_ = walk.Set(agent.Find("walk").Default)
	usual, _ := strconv.Atoi(agent.Find("backups").Default)
	oneSlot, _ := strconv.Atoi(agent.Find("slots").Default)
	w.Latency = time.Millisecond
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.IntVar(&w.Members, "members", 0, "How many members the gate has: a `NUMBER` up to 20000. Required.")
	flags.Var(durationFlag{&w.Op}, "op", "How long one run takes. Required.")
	flags.Var(durationFlag{&w.Every}, "every", "How often each member is to run, on average. Required.")
	flags.Var(walk, "walk", agent.Find("walk").Help)
	flags.IntVar(&w.Backups, "backups", usual, fmt.Sprintf(
		"How many members guard the token: a `NUMBER` from 0, the plain paper, to %d.", wire.MaxBackups))
	flags.IntVar(&w.Slots, "slots", oneSlot, fmt.Sprintf("How many members may run at once: a `NUMBER` from 1 to %d.", wire.MaxSlots))
	flags.Var(durationFlag{&w.Skip}, "skip", "How long the token rests at a member that has no need of it. Without it, one is recommended.")
	flags.Var(durationFlag{&w.Latency}, "latency", "How long a datagram is under way between two members.")
	flags.Var(shareFlag{&w.Loss}, "loss", "The share of datagrams that do not arrive.")
	flags.BoolVar(&asJSON, "json", false, "Print one JSON object. Times are in seconds, shares from 0 to 1.")
	flags.Lookup("members").DefValue = ""
	cmd.AddCommand(newPlanBackupsCommand())
	return cmd
}

// walkFlag is a walk by its name.
type walkFlag struct{ at *wander.Walk }

func (v walkFlag) Set(name string) (err error) {
	*v.at, err = wander.ParseWalk(name)
	return err
}

func (v walkFlag) String() string {
	if v.at == nil { // pflag asks a zero value for its default
		return ""
	}
	return v.at.String()
}

func (walkFlag) Type() string { return "walk" }

// shareFlag is a part of a whole: 1% or 0.01.
type shareFlag struct{ at *float64 }

func (v shareFlag) Set(text string) (err error) {
	*v.at, err = settings.ParseShare(text)
	return err
}

func (v shareFlag) String() string {
	if v.at == nil { // pflag asks a zero value for its default
		return ""
	}
	return settings.Part(*v.at).String()
}

func (shareFlag) Type() string { return "share" }

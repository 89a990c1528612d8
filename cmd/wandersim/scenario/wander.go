package scenario

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/cli/usual"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/policy/window"
	"github.com/wanderd/wanderd/wire"
)

// wanderTable returns the parameters of a fleet with a wandering token.
func (p *Parameters) wanderTable() settings.Table {
	return slices.Concat(settings.Table{
		settings.Row("policy", settings.Choice(&p.Policy, policyNames()...), usual.PolicyWander,
			"How the token moves: "+strings.Join(policyNames(), " or ")+". Each has its own parameters.").As("NAME"),
		settings.Row("walk", settings.Choice(&p.Walk, wander.Walks()...), usual.Walk(), usual.WalkHelp),
		settings.Row("op", settings.Positive(&p.Op), "4s", "How long one operation takes."),
		settings.Ruled("op_configured", settings.Positive(&p.OpConfigured), "--op",
			"How long the members believe that an operation takes, if the operator was wrong."),
		settings.Row("skip", settings.Positive(&p.Skip), usual.Skip,
			"How long the token rests at a member that does not need it."),
		settings.Row("min_interval", settings.Duration(&p.MinInterval), usual.MinInterval,
			"The least time between two operations on one member."),
		settings.Row("retry_after", settings.Duration(&p.RetryAfter), "0s",
			"How long after a failed operation it is repeated; the time doubles with each further failure, up to "+
				"--min-interval. With 0, and on "+
				"demand, a failed one counts as any other."),
		settings.Row("window", settings.Several((*[]window.Window)(&p.Windows), "WINDOW", usual.ParseWindow), "",
			"When members may run, as in \"Mon..Fri 22:00-06:00 UTC\"; can be repeated. The run begins on a Saturday "+
				"at midnight in UTC."),
		settings.Row("demand", settings.Duration(&p.Demand), "0s",
			"How long after an operation somebody waits for the next one at that member, on average: the members run "+
				"on demand, and "+
				"--min-interval is 0 unless it is given. With 0 they run whenever they may, as with a hook."),
		settings.Row("beside_hook", settings.Bool(&p.BesideHook), "false",
			"Whether the members have an operation of their own, too, which is due after --min-interval. It takes "+
				"turns "+
				"with those who wait.").Needing("demand"),
		settings.Ruled("max_interval", settings.Positive(&p.MaxInterval), usual.MaxIntervalRule,
			"How long a member waits for the token before it assumes that the token is lost and makes a new one."),
		settings.Row("slots", p.Slots.Value(), usual.Slots,
			fmt.Sprintf(
				"How many tokens the gate has, 1 to %d, or a share of the members as in 10%%: so many operations may "+
					"run at once, no two on one member.",
				wire.MaxSlots)),
		settings.Row("backups", settings.Count(&p.Backups, 0, guardian.MaxBackups), usual.Backups,
			fmt.Sprintf(
				"How many guardians a token has, 0 to %d: they revive it if its holder dies. 0 is the plain paper.",
				guardian.MaxBackups)),
		settings.Row("on_lost", settings.Choice(&p.OnLost, soft.Finish, soft.Stop), usual.OnLost(),
			"What happens to an operation when another member has revived its token, because this one seemed dead: "+
				"it may finish, or "+
				"it is stopped at once."),
		settings.Row("ask_before_run", settings.Bool(&p.AskBeforeRun), "false",
			"Let members ask all others before each run whether one of them runs. Fleets of more than 64 do not."),
		settings.Row("keep", settings.Duration(&p.Keep), "0s",
			"How long the others wait for a host that reboots during its operation. With 0, a grant ends with its "+
				"host."),
	}.Under("Gate"), p.shapeTable().Under("Gate"), settings.Table{
		settings.Row("members", settings.Count(&p.Members, 1, maxMembers), "150", "How many members the fleet has."),
		settings.Row("duration", settings.Positive(&p.Duration), "1000000s",
			"How much time passes in the fleet. A million seconds of 150 members take some seconds, and less without "+
				"guardians."),
		settings.Row("seed", settings.Count(&p.Seed, 0, math.MaxUint64), "1",
			"Decides everything that is random: the same seed gives the same run.").As("NUMBER"),
		settings.Row("seeds", settings.Count(&p.Seeds, 1, maxSeeds), "1",
			"How many runs there are, with this seed and the next ones, on all cores. The figures of several runs "+
				"are means with "+
				"95 % confidence intervals."),
		settings.Row("fails", settings.Share(&p.Fails), "0%", "The share of operations that fail at once."),
		settings.Row("not_now", settings.Share(&p.NotNow), "0%",
			"The share of operations that end at once because the work cannot be done now.").Needing("retry_after"),
		settings.Row("reboot_takes", settings.Duration(&p.RebootTakes), "0s",
			"How long a host is away after each operation, which reboots it. With 0, operations reboot nothing.").
			Needing("keep"),
		settings.Row("reboot_fails", settings.Share(&p.RebootFails), "0%",
			"The share of hosts that do not come back after a reboot.").Needing("reboot_takes"),
		settings.Row("ready_no", settings.Share(&p.ReadyNo), "0%",
			"The share of answers that are \"not needed now\" when a host is asked, half a minute before an "+
				"operation is due, and again after "+
				"--retry-after. With 0 nobody is asked.").Needing("retry_after"),
		settings.Row("op_jitter", spread(&p.OpJitter), "0%",
			"How much longer or shorter than --op an operation takes at most, evenly spread: a share of it, or a "+
				"duration."),
	}.Under("Run"), settings.Table{
		settings.Row("latency", settings.Duration(&p.Latency), "1ms", "How long a datagram takes."),
		settings.Row("jitter", settings.Duration(&p.Jitter), "0s",
			"How much longer a datagram takes at most, evenly spread: datagrams then overtake each other."),
		settings.Row("loss", settings.Share(&p.Loss), "0%", "The share of datagrams that do not arrive."),
		settings.Row("duplicate", settings.Share(&p.Duplicate), "0%", "The share of datagrams that arrive twice."),
		settings.Row("broken_links", settings.Share(&p.Broken), "0%",
			"The share of ordered pairs of members in which the first never reaches the second, as behind a "+
				"firewall. The "+
				"membership does not notice."),
		settings.Row("distant", settings.Count(&p.Distant, 0, maxMembers), "0",
			"How many members are further away than the others, each at a place of its own."),
		settings.Row("away", settings.Duration(&p.Away), "500ms",
			"How much longer a datagram to or from a distant member takes.").Needing("distant"),
		settings.Row("one_site", settings.Bool(&p.Together), "false",
			"Whether all distant members are at one place, with nothing in between.").Needing("distant"),
		settings.Ruled("detect_after", settings.Moment(&p.DetectAfter),
			"as measured of real agents: joins at once, crashes after 1s + 4s × log10(members), and 5s at least",
			"How late the members learn of a crash, a join, and the start and end of a partition."),
	}.Under("Network"), settings.Table{
		settings.Row("lose_token_every", settings.Period(&p.LoseTokenEvery, leastPeriod), "",
			"The mean time between two losses of the token on its way."),
		settings.Row("crash_every", settings.Period(&p.CrashEvery, leastPeriod), "",
			"The mean time between two crashes of one member."),
		settings.Row("down_for", settings.Duration(&p.DownFor), "1m",
			"The mean time after which a crashed member is back.").Needing("crash_every"),
		settings.Row("pause_every", settings.Period(&p.PauseEvery, leastPeriod), "",
			"The mean time between two pauses of one member: its process is paused while its operation goes on."),
		settings.Row("pause_for", settings.Duration(&p.PauseFor), "30s",
			"The mean time that a pause lasts.").Needing("pause_every"),
		settings.Row("partition_at", settings.Moment(&p.PartitionAt), "",
			"When the network splits into two parts that do not reach each other."),
		settings.Row("partition_for", settings.Positive(&p.PartitionFor), "1h",
			"How long the network stays split.").Needing("partition_at"),
		settings.Row("partition_share", settings.Share(&p.PartitionShare), "50%",
			"The share of members in the one part.").Needing("partition_at"),
		settings.Row("clock_skew", settings.Duration(&p.ClockSkew), "0s",
			"How far a wall clock is ahead or behind at most."),
		settings.Row("save_takes", settings.Duration(&p.Disk.Takes), "0s",
			"How long a disk takes to save the start of an operation, which waits for half a skip at most."),
		settings.Row("slow_saves", settings.Share(&p.Disk.Slow), "0%",
			"The share of saves that take --slow-save-for in the mean."),
		settings.Row("slow_save_for", settings.Duration(&p.Disk.SlowFor), "5s", "How long a slow save takes."),
	}.Under("Fault"))
}

// longestRound keeps products of members and durations far from overflow.
const longestRound = 50 * 365 * 24 * time.Hour

func (p *Parameters) checkWander(r *settings.Reading) {
	if p.OpConfigured == 0 {
		p.OpConfigured = p.Op
	}
	if p.onDemand() && !r.Of(&p.MinInterval).IsGiven() {
		p.MinInterval = 0
		r.ByRule(&p.MinInterval, "none on demand")
	}
	if !p.onDemand() {
		r.AtLeast(&p.MinInterval, &p.Op, "a member would be due again before it has finished")
	}
	r.AtLeast(&p.MaxInterval, &p.MinInterval, "every member would take the token for lost between two operations")
	for _, op := range []*time.Duration{&p.Op, &p.OpConfigured} {
		if s := r.Of(op); s.IsSet() && float64(p.Members)*float64(*op) > float64(longestRound) {
			r.Object("%s and %s make a round of more than 50 years: lower one of them", r.Of(&p.Members), s)
		}
	}
	p.checkOp(r)
	p.checkKeep(r)
	p.checkShape(r)
	r.CheckNeeds()
	if p.Distant >= p.Members && p.Distant > 0 {
		r.Object("%s is not less than %s: some members must not be distant", r.Of(&p.Distant), r.Of(&p.Members))
	}
	p.checkPartition(r)
	if r.Err() == nil && p.MaxInterval == 0 {
		p.DefaultMaxInterval = true
		world := p.World()
		p.MaxInterval = world.MaxIntervalInForce()
	}
}

func (p *Parameters) checkPartition(r *settings.Reading) {
	if p.PartitionAt == nil {
		return
	}
	if *p.PartitionAt >= p.Duration {
		r.Object("%s is not before the end, %s: make it earlier, or the run longer", r.Of(&p.PartitionAt),
			r.Of(&p.Duration))
	}
	if side := p.PartitionShare * float64(p.Members); side < 1 || side > float64(p.Members-1) {
		r.Object("%s leaves one part of %s empty: choose a share that puts at least one member into each part",
			r.Of(&p.PartitionShare), r.Of(&p.Members))
	}
}

// checkOp checks the duration of an operation, in any policy.
func (p *Parameters) checkOp(r *settings.Reading) {
	if p.OpJitter.Time > p.Op {
		r.Object("%s is more than %s, so an operation could end before it begins: lower op_jitter or raise op",
			r.Of(&p.OpJitter), r.Of(&p.Op))
	}
}

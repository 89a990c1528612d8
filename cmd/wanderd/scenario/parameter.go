package scenario

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/wanderd/wanderd/cmd/wanderd/config"
	"github.com/wanderd/wanderd/cmd/wanderd/settings"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// Parameters are a scenario as a person describes it. Of faults, an Every of zero and an At of nil mean never.
type Parameters struct {
	Policy                             string
	Walk                               wander.Walk
	Op, Skip, MinInterval, MaxInterval time.Duration
	// DefaultMaxInterval says that MaxInterval is what the members make by themselves, and nobody has set it.
	DefaultMaxInterval bool
	// OpConfigured is what the members are told of Op.
	OpConfigured   time.Duration
	Slots, Backups int
	OnLost         wander.OnLost
	// Demand is the mean time from one run of a member until it is wanted again; zero makes a gate with a hook.
	Demand   time.Duration
	Members  int
	OpJitter Spread
	Duration time.Duration
	Seed     uint64
	Seeds    int

	Latency, Jitter              time.Duration
	Loss, Duplicate, BrokenLinks float64

	LoseTokenEvery         time.Duration
	CrashEvery, DownFor    time.Duration
	PauseEvery, PauseFor   time.Duration
	PartitionAt            *time.Duration
	PartitionFor           time.Duration
	PartitionShare         float64
	ClockSkew              time.Duration
	DetectAfter            *time.Duration
	SaveTakes, SlowSaveFor time.Duration
	SlowSaves              float64
}

// Interval is about how long a member goes without an operation if no other is in its way.
func (p *Parameters) Interval() time.Duration { return max(p.MinInterval, p.Demand) }

// Spread is by how much a duration varies: by a share of itself, or by a time.
type Spread struct {
	Share float64
	Time  time.Duration
}

// Of returns the share of d.
func (s Spread) Of(d time.Duration) float64 {
	if s.Time > 0 {
		return float64(s.Time) / float64(d)
	}
	return s.Share
}

func spread(at *Spread) settings.Value {
	return settings.Of(at, settings.AsShare, "SHARE", func(text string) (Spread, error) {
		if d, err := settings.ParseDuration(text); err == nil {
			return Spread{Time: d}, nil
		}
		share, err := settings.ParseShare(text)
		if err != nil {
			err = fmt.Errorf("%w; or a duration, as in 1s", err)
		}
		return Spread{Share: share}, err
	}, func(s Spread) any {
		if s.Time > 0 {
			return settings.FormatDuration(s.Time)
		}
		return settings.Part(s.Share)
	})
}

const (
	maxMembers = 1_000_000
	maxSeeds   = 100_000
	// leastPeriod is the least mean time between two faults: of less, nothing is left of the fleet.
	leastPeriod = time.Second
)

// Table returns all parameters, in the order in which help and JSON show them.
func Table() settings.Table { return new(Parameters).table() }

func (p *Parameters) table() settings.Table {
	agent := config.Table()
	usual := func(key string) string { return agent.Find(key).Default }
	return slices.Concat(settings.Table{
		settings.Row("policy", settings.Choice(&p.Policy, config.PolicyWander), config.PolicyWander,
			"How the token goes round: "+config.PolicyWander+".").As("NAME"),
		settings.Row("walk", settings.Choice(&p.Walk, wander.Walks()...), usual("walk"), agent.Find("walk").Help),
		settings.Row("op", settings.Positive(&p.Op), "4s", "How long one operation takes."),
		settings.Ruled("op_configured", settings.Positive(&p.OpConfigured), "--op",
			"How long the members believe that an operation takes, if the operator was wrong."),
		settings.Row("skip", settings.Positive(&p.Skip), usual("skip"),
			"How long the token rests at a member that does not need it."),
		settings.Row("min_interval", settings.Duration(&p.MinInterval), usual("min_interval"),
			"The least time between two operations on one member."),
		settings.Row("demand", settings.Duration(&p.Demand), "0s",
			"How long after an operation somebody waits for the next one at that member, on average: the members run on demand, and "+
				"--min-interval is 0 unless it is given. With 0 they run whenever they may, as with a hook."),
		settings.Ruled("max_interval", settings.Positive(&p.MaxInterval), agent.Find("max_interval").Rule,
			"How long a member waits for the token before it assumes that the token is lost and makes a new one."),
		settings.Row("slots", settings.Count(&p.Slots, 1, wire.MaxSlots), usual("slots"),
			fmt.Sprintf("How many tokens the gate has, 1 to %d: so many operations may run at once, no two on one member.",
				wire.MaxSlots)),
		settings.Row("backups", settings.Count(&p.Backups, 0, guardian.MaxBackups), usual("backups"),
			fmt.Sprintf("How many members guard a token, 0 to %d, and revive it if its holder dies. 0 is the plain paper.",
				guardian.MaxBackups)),
		settings.Row("on_lost", settings.Choice(&p.OnLost, wander.Finish, wander.Stop), usual("on_lost"),
			"What happens to an operation when another member has revived its token, because this one seemed dead: it may finish, or "+
				"it is stopped at once."),
	}.Under("Gate"), settings.Table{
		settings.Row("members", settings.Count(&p.Members, 1, maxMembers), "150", "How many members the fleet has."),
		settings.Row("duration", settings.Positive(&p.Duration), "1000000s",
			"How much time passes in the fleet. A million seconds of 150 members take some seconds, and less without guardians."),
		settings.Row("seed", settings.Count(&p.Seed, 0, math.MaxUint64), "1",
			"Decides everything that is random: the same seed gives the same run.").As("NUMBER"),
		settings.Row("seeds", settings.Count(&p.Seeds, 1, maxSeeds), "1",
			"How many runs there are, with this seed and the next ones, on all cores. The figures of several runs are means with "+
				"95 % confidence intervals."),
		settings.Row("op_jitter", spread(&p.OpJitter), "0%",
			"How much longer or shorter than --op an operation takes at most, evenly spread: a share of it, or a duration."),
	}.Under("Run"), settings.Table{
		settings.Row("latency", settings.Duration(&p.Latency), "1ms", "How long a datagram takes."),
		settings.Row("jitter", settings.Duration(&p.Jitter), "0s",
			"How much longer a datagram takes at most, evenly spread: datagrams then overtake each other."),
		settings.Row("loss", settings.Share(&p.Loss), "0%", "The share of datagrams that do not arrive."),
		settings.Row("duplicate", settings.Share(&p.Duplicate), "0%", "The share of datagrams that arrive twice."),
		settings.Row("broken_links", settings.Share(&p.BrokenLinks), "0%",
			"The share of ordered pairs of members in which the first never reaches the second, as behind a firewall. The "+
				"membership does not notice."),
		settings.Ruled("detect_after", settings.Moment(&p.DetectAfter), "as measured of real agents: joins at once, crashes after 1s + 4s × log10(members), and 5s at least",
			"How late the members learn of a crash, a join, and the start and end of a partition."),
	}.Under("Network"), settings.Table{
		settings.Row("lose_token_every", settings.Period(&p.LoseTokenEvery, leastPeriod), "",
			"The mean time between two losses of the token on its way."),
		settings.Row("crash_every", settings.Period(&p.CrashEvery, leastPeriod), "",
			"The mean time between two crashes of one member."),
		settings.Row("down_for", settings.Duration(&p.DownFor), "1m",
			"The mean time after which a crashed member is back.").Needing("crash_every"),
		settings.Row("pause_every", settings.Period(&p.PauseEvery, leastPeriod), "",
			"The mean time between two pauses of one member: its process stands still while its operation goes on."),
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
		settings.Row("save_takes", settings.Duration(&p.SaveTakes), "0s",
			"How long a disk takes to save the start of an operation, which waits for half a skip at most."),
		settings.Row("slow_saves", settings.Share(&p.SlowSaves), "0%",
			"The share of saves that take --slow-save-for in the mean."),
		settings.Row("slow_save_for", settings.Duration(&p.SlowSaveFor), "5s", "How long a slow save takes."),
	}.Under("Fault"))
}

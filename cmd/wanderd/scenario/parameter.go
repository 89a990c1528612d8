package scenario

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/cmd/wanderd/config"
	"github.com/wanderd/wanderd/cmd/wanderd/settings"
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
	Members        int
	OpJitter       Spread
	Duration       time.Duration
	Seed           uint64
	Seeds          int

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
	return slices.Concat(p.gate().Under("Gate"), p.run().Under("Run"), p.network().Under("Network"), p.faults().Under("Fault"))
}

func (p *Parameters) gate() settings.Table {
	agent := config.Table()
	usual := func(key string) string { return agent.Find(key).Default }
	return settings.Table{
		{
			Key: "policy", Value: settings.Choice(&p.Policy, config.PolicyWander), Placeholder: "NAME", Default: config.PolicyWander,
			Help: "How the token goes round: " + config.PolicyWander + ".",
		},
		{
			Key: "walk", Value: settings.Choice(&p.Walk, wander.Walks()...), Default: usual("walk"), Help: agent.Find("walk").Help,
		},
		{Key: "op", Value: settings.Positive(&p.Op), Default: "4s", Help: "How long one operation takes."},
		{
			Key: "op_configured", Value: settings.Positive(&p.OpConfigured), Rule: "what --op is",
			Help: "How long the members are told that an operation takes, where the operator was wrong.",
		},
		{
			Key: "skip", Value: settings.Positive(&p.Skip), Default: usual("skip"),
			Help: "How long the token rests at a member that has no need of it.",
		},
		{
			Key: "min_interval", Value: settings.Positive(&p.MinInterval), Default: usual("min_interval"),
			Help: "The least time between two operations on one member.",
		},
		{
			Key: "max_interval", Value: settings.Positive(&p.MaxInterval), Rule: agent.Find("max_interval").Rule,
			Help: "How long a member waits in vain for the token before it takes it for lost and makes a new one.",
		},
		{
			Key: "slots", Value: settings.Count(&p.Slots, 1, wire.MaxSlots), Default: usual("slots"),
			Help: fmt.Sprintf("How many tokens the gate has, 1 to %d, and so how many operations may run at once, no two on one member.",
				wire.MaxSlots),
		},
		{
			Key: "backups", Value: settings.Count(&p.Backups, 0, wire.MaxBackups), Default: usual("backups"),
			Help: fmt.Sprintf("How many members guard a token, 0 to %d, and take it up again if its holder dies. 0 is the plain paper.",
				wire.MaxBackups),
		},
		{
			Key: "on_lost", Value: settings.Choice(&p.OnLost, wander.Finish, wander.Stop), Default: usual("on_lost"),
			Help: "What becomes of an operation whose token another member has taken up meanwhile, because this one seemed dead: it may " +
				"finish, or is stopped at once.",
		},
	}
}

func (p *Parameters) run() settings.Table {
	return settings.Table{
		{Key: "members", Value: settings.Count(&p.Members, 1, maxMembers), Default: "150", Help: "How many members the fleet has."},
		{
			Key: "duration", Value: settings.Positive(&p.Duration), Default: "1000000s",
			Help: "How much time passes in the fleet. A million seconds of 150 members take some seconds, and less without guardians.",
		},
		{
			Key: "seed", Value: settings.Seed(&p.Seed), Default: "1",
			Help: "Decides everything that is left to chance: the same seed gives the same run.",
		},
		{
			Key: "seeds", Value: settings.Count(&p.Seeds, 1, maxSeeds), Default: "1",
			Help: "How many runs there are, with this seed and those after it, on all cores. Of more than one, the figures are the " +
				"mean and its 95 % confidence interval.",
		},
		{
			Key: "op_jitter", Value: spread(&p.OpJitter), Default: "0%",
			Help: "By how much an operation takes longer or shorter than --op, evenly spread: a share of it, or a duration.",
		},
	}
}

func (p *Parameters) network() settings.Table {
	return settings.Table{
		{Key: "latency", Value: settings.Duration(&p.Latency), Default: "1ms", Help: "How long a datagram takes."},
		{
			Key: "jitter", Value: settings.Duration(&p.Jitter), Default: "0s",
			Help: "Up to how much longer it takes, evenly spread: with it, datagrams overtake each other.",
		},
		{Key: "loss", Value: settings.Share(&p.Loss), Default: "0%", Help: "The share of datagrams that do not arrive."},
		{Key: "duplicate", Value: settings.Share(&p.Duplicate), Default: "0%", Help: "The share of datagrams that arrive twice."},
		{
			Key: "broken_links", Value: settings.Share(&p.BrokenLinks), Default: "0%",
			Help: "The share of ordered pairs of members of which the first never reaches the second, as behind a firewall. The " +
				"membership does not notice.",
		},
		{
			Key: "detect_after", Value: settings.Moment(&p.DetectAfter),
			Rule: "as measured of real agents: joins at once, crashes after 1s + 4s × log10(members), and 5s at least",
			Help: "How late the members learn of a crash, a join, and that the network is parted or whole again.",
		},
	}
}

func (p *Parameters) faults() settings.Table {
	return settings.Table{
		{
			Key: "lose_token_every", Value: settings.Period(&p.LoseTokenEvery, leastPeriod),
			Help: "The mean time after which the token is lost on its way, for good.",
		},
		{
			Key: "crash_every", Value: settings.Period(&p.CrashEvery, leastPeriod),
			Help: "The mean time between two crashes of one member.",
		},
		{
			Key: "down_for", Value: settings.Duration(&p.DownFor), Default: "1m", Needs: "crash_every",
			Help: "The mean time after which a member that crashed is there again.",
		},
		{
			Key: "pause_every", Value: settings.Period(&p.PauseEvery, leastPeriod),
			Help: "The mean time between two pauses of one member, whose process stands still while its operation goes on.",
		},
		{
			Key: "pause_for", Value: settings.Duration(&p.PauseFor), Default: "30s", Needs: "pause_every",
			Help: "The mean time that a pause lasts.",
		},
		{
			Key: "partition_at", Value: settings.Moment(&p.PartitionAt),
			Help: "When the network is parted in two, neither of which reaches the other.",
		},
		{
			Key: "partition_for", Value: settings.Positive(&p.PartitionFor), Default: "1h", Needs: "partition_at",
			Help: "How long it is parted.",
		},
		{
			Key: "partition_share", Value: settings.Share(&p.PartitionShare), Default: "50%", Needs: "partition_at",
			Help: "The share of members on the one side.",
		},
		{
			Key: "clock_skew", Value: settings.Duration(&p.ClockSkew), Default: "0s",
			Help: "By how much a wall clock is ahead or behind at most.",
		},
		{
			Key: "save_takes", Value: settings.Duration(&p.SaveTakes), Default: "0s",
			Help: "How long a disk takes to save that an operation starts, which waits for it for half a skip at most.",
		},
		{
			Key: "slow_saves", Value: settings.Share(&p.SlowSaves), Default: "0%",
			Help: "The share of saves that take --slow-save-for in the mean.",
		},
		{Key: "slow_save_for", Value: settings.Duration(&p.SlowSaveFor), Default: "5s", Help: "How long a slow save takes."},
	}
}

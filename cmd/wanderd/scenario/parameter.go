package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

// Parameters are a scenario as a person describes it. Of faults, an Every of zero and an At of nil mean never.
type Parameters struct {
	Policy, Walk                       string
	Op, Skip, MinInterval, MaxInterval time.Duration
	// DefaultMaxInterval says that MaxInterval is what the members make by themselves, and nobody has set it.
	DefaultMaxInterval bool
	// OpConfigured is what the members are told of Op.
	OpConfigured   time.Duration
	Slots, Backups int
	OnLost         string
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

// Group is the heading under which help shows a parameter.
type Group string

// The groups, in the order in which help shows them.
const (
	GroupGate    Group = "Gate"
	GroupRun     Group = "Run"
	GroupNetwork Group = "Network"
	GroupFault   Group = "Fault"
)

// Parameter is one thing that can be set.
type Parameter struct {
	// Key is its name in a file; the flag has dashes for the underscores.
	Key         string
	Group       Group
	Placeholder string
	// Default is the default as text, empty where that is nothing; Rule says how it is made where it depends on other things.
	Default, Rule string
	// Help says in a sentence or two what it is.
	Help string
	// Needs is the key of the parameter without which this one has no effect.
	Needs string

	field func(*Parameters) value
}

// Flag returns the name of the flag, without dashes.
func (p Parameter) Flag() string { return strings.ReplaceAll(p.Key, "_", "-") }

// DefaultText says what holds if nobody sets it; "" if that is nothing.
func (p Parameter) DefaultText() string {
	if p.Rule != "" {
		return p.Rule
	}
	return p.Default
}

// never reports whether the parameter is that something never happens, or says more of what never happens.
func (p Parameter) never(in *Parameters) bool {
	if p.Needs != "" {
		return entry(p.Needs).never(in)
	}
	v, ok := p.field(in).(interface{ never() bool })
	return ok && v.never()
}

// entry returns the parameter of a key that there is.
func entry(key string) Parameter {
	table := Table()
	return table[slices.IndexFunc(table, func(p Parameter) bool { return p.Key == key })]
}

// The placeholders of values.
const (
	asWord     = "NAME"
	asCount    = "COUNT"
	asNumber   = "NUMBER"
	asDuration = "DURATION"
	asShare    = "SHARE"
)

// Table returns all parameters, in the order in which help and JSON show them.
func Table() []Parameter {
	return slices.Concat(gateTable(), runTable(), networkTable(), faultTable())
}

func gateTable() []Parameter {
	walk, op, skip := config.Walk.Setting(), config.Op.Setting(), config.Skip.Setting()
	least, most := config.MinInterval.Setting(), config.MaxInterval.Setting()
	slots, backups, onLost := config.Slots.Setting(), config.Backups.Setting(), config.OnLost.Setting()
	return []Parameter{
		{
			Key: "policy", Group: GroupGate, Placeholder: asWord, Default: config.PolicyWander,
			Help:  "How the token goes round: " + config.PolicyWander + ".",
			field: func(p *Parameters) value { return choice{&p.Policy, []string{config.PolicyWander}} },
		},
		{
			Key: walk.Key, Group: GroupGate, Placeholder: walk.Placeholder, Default: walk.Default, Help: walk.Help,
			field: func(p *Parameters) value { return choice{&p.Walk, walk.Choices} },
		},
		{
			Key: op.Key, Group: GroupGate, Placeholder: asDuration, Default: "4s", Help: "How long one operation takes.",
			field: func(p *Parameters) value { return duration{&p.Op} },
		},
		{
			Key: "op_configured", Group: GroupGate, Placeholder: asDuration, Rule: "what --op is",
			Help:  "How long the members are told that an operation takes, where the operator was wrong.",
			field: func(p *Parameters) value { return duration{&p.OpConfigured} },
		},
		{
			Key: skip.Key, Group: GroupGate, Placeholder: asDuration, Default: skip.Default,
			Help:  "How long the token rests at a member that has no need of it.",
			field: func(p *Parameters) value { return duration{&p.Skip} },
		},
		{
			Key: least.Key, Group: GroupGate, Placeholder: asDuration, Default: least.Default,
			Help:  "The least time between two operations on one member.",
			field: func(p *Parameters) value { return duration{&p.MinInterval} },
		},
		{
			Key: most.Key, Group: GroupGate, Placeholder: asDuration, Rule: most.Rule,
			Help:  "How long a member waits in vain for the token before it takes it for lost and makes a new one.",
			field: func(p *Parameters) value { return duration{&p.MaxInterval} },
		},
		{
			Key: slots.Key, Group: GroupGate, Placeholder: asCount, Default: slots.Default,
			Help: fmt.Sprintf("How many tokens the gate has, 1 to %d, and so how many operations may run at once, no two on one member.",
				slots.Most),
			field: func(p *Parameters) value { return count{&p.Slots} },
		},
		{
			Key: backups.Key, Group: GroupGate, Placeholder: asCount, Default: backups.Default,
			Help: fmt.Sprintf("How many members guard a token, 0 to %d, and take it up again if its holder dies. 0 is the plain paper.",
				backups.Most),
			field: func(p *Parameters) value { return count{&p.Backups} },
		},
		{
			Key: onLost.Key, Group: GroupGate, Placeholder: onLost.Placeholder, Default: onLost.Default,
			Help: "What becomes of an operation whose token another member has taken up meanwhile, because this one seemed dead: it may " +
				"finish, or is stopped at once.",
			field: func(p *Parameters) value { return choice{&p.OnLost, onLost.Choices} },
		},
	}
}

func runTable() []Parameter {
	return []Parameter{
		{
			Key: "members", Group: GroupRun, Placeholder: asCount, Default: "150", Help: "How many members the fleet has.",
			field: func(p *Parameters) value { return count{&p.Members} },
		},
		{
			Key: "duration", Group: GroupRun, Placeholder: asDuration, Default: "1000000s",
			Help:  "How much time passes in the fleet. A million seconds of 150 members take some seconds, and less without guardians.",
			field: func(p *Parameters) value { return duration{&p.Duration} },
		},
		{
			Key: "seed", Group: GroupRun, Placeholder: asNumber, Default: "1",
			Help:  "Decides everything that is left to chance: the same seed gives the same run.",
			field: func(p *Parameters) value { return seed{&p.Seed} },
		},
		{
			Key: "seeds", Group: GroupRun, Placeholder: asCount, Default: "1",
			Help: "How many runs there are, with this seed and those after it, on all cores. Of more than one, the figures are the " +
				"mean and its 95 % confidence interval.",
			field: func(p *Parameters) value { return count{&p.Seeds} },
		},
		{
			Key: "op_jitter", Group: GroupRun, Placeholder: asShare, Default: "0%",
			Help:  "By how much an operation takes longer or shorter than --op, evenly spread: a share of it, or a duration.",
			field: func(p *Parameters) value { return spread{&p.OpJitter} },
		},
	}
}

func networkTable() []Parameter {
	return []Parameter{
		{
			Key: "latency", Group: GroupNetwork, Placeholder: asDuration, Default: "1ms", Help: "How long a datagram takes.",
			field: func(p *Parameters) value { return duration{&p.Latency} },
		},
		{
			Key: "jitter", Group: GroupNetwork, Placeholder: asDuration, Default: "0s",
			Help:  "Up to how much longer it takes, evenly spread: with it, datagrams overtake each other.",
			field: func(p *Parameters) value { return duration{&p.Jitter} },
		},
		{
			Key: "loss", Group: GroupNetwork, Placeholder: asShare, Default: "0%", Help: "The share of datagrams that do not arrive.",
			field: func(p *Parameters) value { return share{&p.Loss} },
		},
		{
			Key: "duplicate", Group: GroupNetwork, Placeholder: asShare, Default: "0%",
			Help:  "The share of datagrams that arrive twice.",
			field: func(p *Parameters) value { return share{&p.Duplicate} },
		},
		{
			Key: "broken_links", Group: GroupNetwork, Placeholder: asShare, Default: "0%",
			Help: "The share of ordered pairs of members of which the first never reaches the second, as behind a firewall. The " +
				"membership does not notice.",
			field: func(p *Parameters) value { return share{&p.BrokenLinks} },
		},
		{
			Key: "detect_after", Group: GroupNetwork, Placeholder: asDuration,
			Rule:  "as measured of real agents: joins at once, crashes after 1s + 4s × log10(members), and 5s at least",
			Help:  "How late the members learn of a crash, a join, and that the network is parted or whole again.",
			field: func(p *Parameters) value { return moment{&p.DetectAfter} },
		},
	}
}

func faultTable() []Parameter {
	return []Parameter{
		{
			Key: "lose_token_every", Group: GroupFault, Placeholder: asDuration,
			Help:  "The mean time after which the token is lost on its way, for good.",
			field: func(p *Parameters) value { return period{duration{&p.LoseTokenEvery}} },
		},
		{
			Key: "crash_every", Group: GroupFault, Placeholder: asDuration,
			Help:  "The mean time between two crashes of one member.",
			field: func(p *Parameters) value { return period{duration{&p.CrashEvery}} },
		},
		{
			Key: "down_for", Group: GroupFault, Placeholder: asDuration, Default: "1m", Needs: "crash_every",
			Help:  "The mean time after which a member that crashed is there again.",
			field: func(p *Parameters) value { return duration{&p.DownFor} },
		},
		{
			Key: "pause_every", Group: GroupFault, Placeholder: asDuration,
			Help:  "The mean time between two pauses of one member, whose process stands still while its operation goes on.",
			field: func(p *Parameters) value { return period{duration{&p.PauseEvery}} },
		},
		{
			Key: "pause_for", Group: GroupFault, Placeholder: asDuration, Default: "30s", Needs: "pause_every",
			Help:  "The mean time that a pause lasts.",
			field: func(p *Parameters) value { return duration{&p.PauseFor} },
		},
		{
			Key: "partition_at", Group: GroupFault, Placeholder: asDuration,
			Help:  "When the network is parted in two, neither of which reaches the other.",
			field: func(p *Parameters) value { return moment{&p.PartitionAt} },
		},
		{
			Key: "partition_for", Group: GroupFault, Placeholder: asDuration, Default: "1h", Needs: "partition_at",
			Help:  "How long it is parted.",
			field: func(p *Parameters) value { return duration{&p.PartitionFor} },
		},
		{
			Key: "partition_share", Group: GroupFault, Placeholder: asShare, Default: "50%", Needs: "partition_at",
			Help:  "The share of members on the one side.",
			field: func(p *Parameters) value { return share{&p.PartitionShare} },
		},
		{
			Key: "clock_skew", Group: GroupFault, Placeholder: asDuration, Default: "0s",
			Help:  "By how much a wall clock is ahead or behind at most.",
			field: func(p *Parameters) value { return duration{&p.ClockSkew} },
		},
		{
			Key: "save_takes", Group: GroupFault, Placeholder: asDuration, Default: "0s",
			Help:  "How long a disk takes to save that an operation starts, which waits for it for half a skip at most.",
			field: func(p *Parameters) value { return duration{&p.SaveTakes} },
		},
		{
			Key: "slow_saves", Group: GroupFault, Placeholder: asShare, Default: "0%",
			Help:  "The share of saves that take --slow-save-for in the mean.",
			field: func(p *Parameters) value { return share{&p.SlowSaves} },
		},
		{
			Key: "slow_save_for", Group: GroupFault, Placeholder: asDuration, Default: "5s",
			Help:  "How long a slow save takes.",
			field: func(p *Parameters) value { return duration{&p.SlowSaveFor} },
		},
	}
}

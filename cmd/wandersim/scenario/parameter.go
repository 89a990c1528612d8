package scenario

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/policy/window"
	"github.com/wanderd/wanderd/sim"
)

// Parameters describe a scenario as a person does. For faults, an Every of zero and an At of nil mean never.
type Parameters struct {
	Policy  string
	Walk    wander.Walk
	Request ring.Request
	Links   ring.Links
	// Recovery and Timeout are parameters of a tree.
	Recovery tree.Recovery
	Timeout  time.Duration
	// Work is the number of hops for which the work of a ring goes on whose termination is detected.
	Work                               int
	Op, Skip, MinInterval, MaxInterval time.Duration
	// RetryAfter is the time after which a failed operation is repeated; zero means never. Fails and NotNow are the
	// shares of operations that have to be repeated.
	RetryAfter    time.Duration
	Fails, NotNow float64
	// Keep is how long a grant outlives its host. RebootTakes is how long each operation's host is away afterwards, and
	// RebootFails the share of hosts that stay away.
	Keep, RebootTakes time.Duration
	RebootFails       float64
	// Soak is how long a host soaks after its operation, and Unhealthy the share of those that are not healthy then.
	// MaxDown is how many members may be down, First has the sizes of the stages but the last; stages are these sizes.
	Soak      time.Duration
	Unhealthy float64
	MaxDown   int
	First     string
	FirstWait time.Duration
	stages    [2]int
	// ReadyNo is the share of "no" among the answers of ready checks; zero means that no host is asked.
	ReadyNo float64
	// Windows are when members may run, from Saturday, June 2, 2007 in UTC on.
	Windows window.Set
	// DefaultMaxInterval is true if MaxInterval is the members' own default, and was not set.
	DefaultMaxInterval bool
	// OpConfigured is the duration of an operation that the members are configured with.
	OpConfigured time.Duration
	Slots        Tokens
	Backups      int
	OnLost       soft.OnLost
	AskBeforeRun bool
	// Demand is the mean time from one run of a member until it is wanted again; zero makes a gate with a hook.
	// BesideHook makes a gate with both.
	Demand     time.Duration
	BesideHook bool
	Members    int
	OpJitter   Spread
	Duration   time.Duration
	Seed       uint64
	Seeds      int

	sim.Network
	DetectAfter *time.Duration
	// Faults are without a partition, which PartitionAt decides.
	sim.Faults
	PartitionAt    *time.Duration
	PartitionFor   time.Duration
	PartitionShare float64
	ClockSkew      time.Duration
	Disk           sim.Disk
}

// onDemand reports whether members run only when a caller waits.
func (p *Parameters) onDemand() bool { return p.Demand > 0 && !p.BesideHook }

// reboots are operations that reboot their hosts.
func (p *Parameters) reboots() (r sim.Reboots) {
	if p.RebootTakes > 0 {
		r = sim.Reboots{Share: 1, Away: p.RebootTakes, Exactly: true, Late: p.RebootFails, LateBy: p.Duration}
	}
	return r
}

// checkKeep checks that guardians can keep the grants.
func (p *Parameters) checkKeep(r *settings.Reading) {
	switch keep := r.Of(&p.Keep); {
	case p.Keep == 0:
	case p.Slots.Of(p.Members) > 1 || p.Slots.Percent > 0:
		r.Object("%s and %s: grants that outlive their hosts need a gate with one token", keep, r.Of(&p.Slots))
	case p.Backups == 0:
		r.Object("%s and %s: grants that outlive their hosts need guardians, which keep them", keep, r.Of(&p.Backups))
	}
}

// Interval is about how long a member goes without an operation if no other member delays it.
func (p *Parameters) Interval() time.Duration {
	if p.onDemand() {
		return max(p.MinInterval, p.Demand)
	}
	return p.MinInterval
}

// Spread is how much a duration varies: by a share of itself, or by a time.
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
	// leastPeriod is the least mean time between two faults: with less, nothing is left of the fleet.
	leastPeriod = time.Second
)

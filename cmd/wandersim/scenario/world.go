package scenario

import (
	"time"

	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
)

// askedBefore is how long before an operation a host's ready check is asked, answerTakes the longest time until it
// answers.
const (
	askedBefore = 30 * time.Second
	answerTakes = time.Second
)

// World returns the scenario as the simulator wants it: every member sees every other from the beginning, and there is
// a token.
func (p *Parameters) World() wandering.Scenario {
	s := wandering.Scenario{
		Seed: p.Seed, Members: p.Members, TokenInPlace: true, Walk: p.Walk,
		Skip: p.Skip, Op: p.OpConfigured, MinInterval: p.MinInterval, MaxInterval: p.MaxInterval,
		RetryAfter: p.RetryAfter,
		Demand:     sim.Demand{Every: p.Demand, Beside: p.BesideHook},
		Slots:      p.Slots.Number, SlotsShare: p.Slots.Percent, Backups: p.Backups, OnLost: p.OnLost,
		AskBeforeRun: p.AskBeforeRun, Keep: p.Keep,
		ClockSkew: p.ClockSkew, Duration: p.Duration,
		Network: p.Network, Membership: p.membership(), Disk: p.disk(), Faults: p.faults(),
		Hook: sim.Hook{
			Takes: p.Op, Spread: p.OpJitter.Of(p.Op), Fails: p.Fails, NotNow: p.NotNow, Reboots: p.reboots(),
			Soak: p.Soak, Unhealthy: p.Unhealthy,
		},
		Shape: p.shape(),
	}
	if p.onDemand() {
		s.RetryAfter = 0 // The callers repeat what failed.
	} else if p.ReadyNo > 0 {
		s.Ready = sim.Ready{No: p.ReadyNo, Takes: answerTakes, Timeout: askedBefore, Again: p.RetryAfter}
	}
	if len(p.Windows) > 0 {
		s.Windows = &p.Windows
	}
	if p.DefaultMaxInterval {
		s.MaxInterval = 0
	}
	return s
}

// disk returns the disks of the hosts. A disk that takes no time is the zero value.
func (p *Parameters) disk() sim.Disk {
	d := p.Disk
	if d.Slow == 0 {
		d.SlowFor = 0
	}
	return d
}

// faults returns all faults, the partition among them.
func (p *Parameters) faults() sim.Faults {
	f := p.Faults
	if p.PartitionAt != nil {
		f.Partition = sim.Partition{At: *p.PartitionAt, For: p.PartitionFor, Share: p.PartitionShare}
	}
	return f
}

// membership returns a membership that is as late as the parameters demand, or as that of real agents.
func (p *Parameters) membership() sim.Membership {
	if late := p.DetectAfter; late != nil {
		return sim.Membership{GossipAfter: *late, DetectAfter: *late, RejoinAfter: *late}
	}
	return sim.MeasuredMembership(p.Members)
}

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
		Slots:      p.Slots, Backups: p.Backups, OnLost: p.OnLost, AskBeforeRun: p.AskBeforeRun,
		ClockSkew: p.ClockSkew, Duration: p.Duration,
		Network: p.Network, Membership: p.membership(), Disk: p.Disk, Faults: p.Faults,
		Hook: sim.Hook{Takes: p.Op, Spread: p.OpJitter.Of(p.Op), Fails: p.Fails, NotNow: p.NotNow},
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
	if p.Disk.Slow == 0 {
		s.Disk.SlowFor = 0 // A disk that takes no time is the zero value.
	}
	if p.PartitionAt != nil {
		s.Faults.Partition = sim.Partition{At: *p.PartitionAt, For: p.PartitionFor, Share: p.PartitionShare}
	}
	return s
}

// membership returns a membership that is as late as the parameters demand, or as that of real agents.
func (p *Parameters) membership() sim.Membership {
	if late := p.DetectAfter; late != nil {
		return sim.Membership{GossipAfter: *late, DetectAfter: *late, RejoinAfter: *late}
	}
	return sim.MeasuredMembership(p.Members)
}

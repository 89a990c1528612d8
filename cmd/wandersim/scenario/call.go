package scenario

import (
	"github.com/wanderd/wanderd/cmd/cli/settings"
	"github.com/wanderd/wanderd/cmd/cli/usual"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/sim"
	calling "github.com/wanderd/wanderd/sim/fleet/call"
)

// calledDemand is the default demand of a gate on call: without it, the members would run as with a hook.
const calledDemand = "10m"

// callTable returns the parameters of a token that is called: those of the wandering token that mean the same here.
func (p *Parameters) callTable() settings.Table {
	t := p.wanderTable()
	change(t, "demand", settings.Duration(&p.Demand), calledDemand)
	change(t, "backups", settings.Count(&p.Backups, 1, guardian.MaxBackups), usual.Backups)
	t.Find("max_interval").Rule = "the longer of 3 × min_interval and 60 skips"
	return t.Only("policy", "op", "skip", "min_interval", "retry_after", "window", "demand", "beside_hook",
		"max_interval", "slots", "backups", "on_lost", "keep", "reboot_takes", "reboot_fails",
		"soak", "unhealthy", "max_down", "first", "first_wait",
		"members", "duration", "seed", "seeds", "fails", "ready_no",
		"op_jitter", "latency", "jitter", "loss", "duplicate", "broken_links", "distant", "away", "one_site",
		"detect_after", "lose_token_every", "crash_every", "down_for", "pause_every", "pause_for", "partition_at",
		"partition_for", "partition_share", "clock_skew", "save_takes", "slow_saves", "slow_save_for")
}

func (p *Parameters) checkCall(r *settings.Reading) {
	if p.onDemand() && !r.Of(&p.MinInterval).IsGiven() {
		p.MinInterval = 0
		r.ByRule(&p.MinInterval, "none on demand")
	}
	if !p.onDemand() {
		r.AtLeast(&p.MinInterval, &p.Op, "a member would be due again before it has finished")
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
		called := p.Call()
		p.MaxInterval = called.MaxIntervalInForce()
	}
}

// Call returns the scenario as the simulator wants it: every member sees every other from the beginning.
func (p *Parameters) Call() calling.Scenario {
	s := calling.Scenario{
		Seed: p.Seed, Members: p.Members, OnDemand: p.onDemand(),
		Skip: p.Skip, Op: p.Op, MinInterval: p.MinInterval, MaxInterval: p.MaxInterval, RetryAfter: p.RetryAfter,
		Slots: p.Slots.Number, SlotsShare: p.Slots.Percent, Backups: p.Backups, OnLost: p.OnLost, Keep: p.Keep,
		Demand:    sim.Demand{Every: p.Demand, Beside: p.BesideHook},
		ClockSkew: p.ClockSkew, Duration: p.Duration,
		Network: p.Network, Membership: p.membership(), Disk: p.disk(), Faults: p.faults(),
		Hook: sim.Hook{
			Takes: p.Op, Spread: p.OpJitter.Of(p.Op), Fails: p.Fails, Reboots: p.reboots(),
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

package call

import (
	"time"

	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/reduce"
	"github.com/wanderd/wanderd/wire"
)

// Kind names the scenarios of this package in files.
const Kind = "call"

// Smaller makes a scenario that breaks a rule smaller, and writes it.
func (s *Scenario) Smaller() string {
	r := reduce.Smaller(*s, (*Scenario).Explore)
	return r.Text(Kind)
}

// Check returns what is wrong with a scenario that no seed has drawn. The rules of this package hold in fleets as seeds
// draw them: waits have a bound only where members can be served, and guardians only keep what is kept for long.
func (s *Scenario) Check() error {
	h, n, p := &s.Hook, &s.Network, call.Patience(s.Skip)
	reboots, own := h.Reboots, s.Reload
	world := reduce.World{
		Members: s.Members, Skip: s.Skip, Duration: s.Duration, Network: n, Membership: &s.Membership,
		Hook: h, Disk: &s.Disk, Slow: &s.SlowDisk,
		Demand: &s.Demand, Operators: &s.Operators, Ready: &s.Ready, Faults: &s.Faults,
	}
	return reduce.Check(world.Limits(), reduce.Limits{
		"there are at least 2 members":             s.Members >= 2,
		"skip is from 10ms to 1h":                  10*time.Millisecond <= s.Skip && s.Skip <= time.Hour,
		"the duration is from one skip to 100,000": s.Skip <= s.Duration && s.Duration <= 100_000*s.Skip,
		"an operation takes from a thousandth of a skip to a thousand skips": s.Skip/1000 <= h.Takes &&
			h.Takes <= 1000*s.Skip,
		"a core is a part of the members, and not one alone": s.Core.Of == 0 || 2 <= s.Core.Of && s.Core.Of < s.Members,
		"backups is from 1 to 4":                             1 <= s.Backups && s.Backups <= guardian.MaxBackups,
		"slots is at most what a gate can have":              0 <= s.Slots && s.Slots <= wire.MaxSlots,
		"slots are a number, or a share of up to 100 %": 0 <= s.SlotsShare && s.SlotsShare <= 100 &&
			(s.SlotsShare == 0 || s.Slots == 0 && !s.MixedSlots),
		"max_interval is at least 20 skips": s.MaxInterval == 0 || s.MaxInterval >= 20*s.Skip,
		"constants differ by a factor from 1 to 4, where no member is distant": s.Differ == 0 ||
			1 <= s.Differ && s.Differ <= 4 && n.Distant == 0,
		"latency is at most a tenth of skip, and jitter 4 times that": n.Latency <= s.Skip/10 &&
			n.Jitter <= 4*n.Latency,
		"a late datagram takes at most 20 skips, and a distant one a patience": n.LateBy <= 20*s.Skip &&
			n.Away <= 6*p/5,
		"at most 0.6 of the wakes are early": s.EarlyWakes <= 0.6,
		"members run on demand if there is demand, and none beside it": s.OnDemand ==
			(s.Demand.Every > 0 && !s.Demand.Beside) && (s.Demand.Every > 0 || !s.Demand.Beside),
		"callers ask for at most four times what the fleet can do": s.Demand.Every == 0 ||
			s.Demand.Every >= time.Duration(s.Members)*h.Takes/4,
		"min_interval is not shorter than an operation": s.OnDemand || s.MinInterval >= h.Takes*9/10,
		"on demand, nothing is of an operation of the members' own": !s.OnDemand ||
			s.MinInterval == 0 && s.RetryAfter == 0 && s.Ready == sim.Ready{},
		"retry_after is at least half a skip": s.RetryAfter == 0 || s.RetryAfter >= s.Skip/2,
		"grants are kept for 18 patiences, for hosts that reboot within that, in a gate with one token": s.Keep == 0 &&
			reboots == sim.Reboots{} ||
			s.Keep >= 18*p && s.slots() == 1 && s.SlotsShare == 0 && reboots.Away <= s.Keep &&
				reboots.LateBy <= 3*s.Keep,
		"a host soaks for at most 5 operations": h.Soak <= 5*h.Takes &&
			h.Unhealthy <= 1,
		"a limit leaves room for all tokens, and there is time for all stages, and nothing stays wrong": s.fitsShape(),
		"a reload sets all its constants": own == Reload{} ||
			own.At > 0 && 1 <= own.Backups && own.Backups <= guardian.MaxBackups && own.MaxInterval >= 20*s.Skip &&
				(s.OnDemand && own.MinInterval == 0 || own.MinInterval >= h.Takes*9/10),
	})
}

// fitsShape reports whether a scenario is fit for its shape.
func (s *Scenario) fitsShape() bool {
	h, p := &s.Hook, &s.Shape
	if *p == (sim.Shape{}) {
		return true
	}
	staged := p.Canaries >= 1 && p.Second >= 0 && p.Canaries+p.Second < s.Members && p.FirstWait > 0 && !s.OnDemand &&
		s.Windows == nil && s.Differ == 0 && s.Reload == Reload{} && h.Timeout == 0 && h.Hangs == 0 &&
		s.MinInterval >= s.roomForStages()*9/10
	return s.Core.Of == 0 && (p.MaxDown == 0 || p.MaxDown >= s.slots()) &&
		(staged || p.Canaries == 0 && p.Second == 0)
}

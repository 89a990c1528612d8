package call

import (
	"time"

	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/calendar"
)

// piece is a part of the world that few scenarios have. Pieces are drawn last, each from a source of its own, so that a
// new piece leaves all others as they were.
type piece struct {
	name  string
	label uint64
	share float64
	draw  func(drawing, *Scenario)
}

// pieces returns all pieces, in the order in which they are drawn.
func pieces() []piece {
	return []piece{
		{"windows", 101, 0.08, drawing.windows},
		{"constants that differ", 102, 0.06, drawing.mixed},
		{"a reload of constants", 103, 0.08, drawing.reload},
		{"members further away than others", 104, 0.08, drawing.distant},
		{"a restart of all members", 105, 0.06, drawing.restart},
		{"one disk slower than the others", 106, 0.05, drawing.slowDisk},
		{"retries", 107, 0.06, drawing.retries},
		{"an adversary that replays", 108, 0.08, drawing.replays},
		{"links that never deliver", 109, 0.05, drawing.broken},
		{"forged offers", 110, 0.05, drawing.forged},
		{"racks that lose power", 111, 0.05, drawing.racks},
		{"many members that stop in one moment", 112, 0.05, drawing.stopsTogether},
		{"a network in more than two parts", 113, 0.05, drawing.manyParts},
		{"a network that flaps", 114, 0.05, drawing.flapping},
		{"views that differ for long", 115, 0.06, drawing.views},
		{"numbers of slots that differ", 116, 0.25, drawing.mixedSlots},
		{"grants that outlive their hosts", 117, 0.1, drawing.reboots},
		{"members that lose what they have saved", 121, 0.15, drawing.forgets},
	}
}

// shapes are pieces, too, and are drawn behind these: not in a fleet of which a part is not healed, where what stays
// wrong with some members may hold up all others.
func shapes() []piece {
	return []piece{
		{"hosts that soak", 118, 0.08, drawing.soaks},
		{"a limit of members that are down", 119, 0.08, drawing.downLimit},
		{"stages", 120, 0.12, drawing.stages},
	}
}

// alone are pieces of worlds in which nothing else goes wrong. They are drawn last.
func alone() []piece {
	return []piece{{"hosts that crash and nothing else", 122, 0.12, drawing.crashesAlone}}
}

// drawPieces draws some of these pieces of a scenario.
func (s *Scenario) drawPieces(all []piece) {
	for _, p := range all {
		if d := (drawing{sim.NewDice(s.Seed, p.label)}); d.Sometimes(p.share) {
			p.draw(d, s)
		}
	}
}

// soaks: the grant stays with a host for a while after its operation, and some hosts are not healthy then.
func (d drawing) soaks(s *Scenario) {
	s.Hook.Soak, s.Hook.Unhealthy = d.Time(s.Skip/10, 4*s.Op), d.Maybe(0.5, 0.01, 0.5)
}

// downLimit: a run starts only if few members are down.
func (d drawing) downLimit(s *Scenario) { s.Shape.MaxDown = s.slots() + d.IntN(3) }

// stages: canaries run before the others. Between two runs of a canary there is time for all of them.
func (d drawing) stages(s *Scenario) {
	if s.OnDemand || s.Members > sim.MostStaged || s.Windows != nil || s.Differ > 0 || s.Reload != (Reload{}) {
		return
	}
	d.DrawStages(&s.Shape, s.Members, s.Duration)
	s.Membership.Spread, s.Hook.Fails = min(s.Membership.Spread, 4*s.Skip), d.Maybe(0.5, 0.01, 0.2)
	s.MinInterval = max(s.MinInterval, s.roomForStages())
}

// crashesAlone: hosts and agents crash, and nothing else goes wrong. Others notice that soon.
func (d drawing) crashesAlone(s *Scenario) {
	if !s.OnDemand {
		return
	}
	*s = Scenario{
		Seed: s.Seed, Members: s.Members, Skip: s.Skip, Op: s.Op, Backups: s.Backups, OnLost: s.OnLost, OnDemand: true,
		Demand: sim.Demand{Every: s.Demand.Every}, Duration: s.Duration, AskFirst: s.AskFirst, EarlyWakes: s.EarlyWakes,
		Network: sim.Network{Latency: s.Network.Latency, Jitter: s.Network.Jitter, Encode: true},
		Hook:    sim.Hook{Takes: s.Op, Spread: s.Hook.Spread},
	}
	detect := d.Time(s.Skip/10, 2*s.Skip)
	s.Membership = sim.Membership{GossipAfter: detect / 10, DetectAfter: detect, RejoinAfter: 2 * detect}
	s.Faults = sim.Faults{
		CrashEvery: d.Time(s.Duration/40, s.Duration/4), DownFor: d.Time(s.Skip/10, s.Duration/10),
		MidStep: d.Maybe(0.5, 0.1, 1), HostShare: d.Share(0.1, 1),
	}
}

// crashOnly reports whether members run for callers under one token, and crash, and nothing else goes wrong.
func (s *Scenario) crashOnly() bool {
	f := s.Faults
	f.CrashEvery, f.DownFor, f.MidStep, f.HostShare = 0, 0, 0, 0
	calm := *s
	calm.Faults = sim.Faults{}
	return f == (sim.Faults{}) && s.Faults.CrashEvery > 0 && calm.Calm() && s.OnDemand && s.slots() == 1 &&
		!s.MixedSlots
}

// roomForStages is a min_interval in which all stages have their turns.
func (s *Scenario) roomForStages() time.Duration {
	each := s.Hook.Longest() + 2*call.Patience(s.Skip)
	return 3*time.Duration(s.Members)*each + 6*(s.Membership.GossipAfter+s.Membership.Spread)
}

// windowedFor is for how many minutes the windows of a scenario open and close; then they stay open for the rest of the
// day.
const windowedFor = 20

// windows: members may run for some minutes, and then not for some minutes.
func (d drawing) windows(s *Scenario) {
	open, closed := 1+d.IntN(3), 1+d.IntN(3)
	s.Windows = calendar.Draw(sim.NewDice(s.Seed, 123), open, closed, windowedFor)
}

// mixed: every third member has a shorter skip and min_interval, and another number of homes.
func (d drawing) mixed(s *Scenario) { s.Differ = d.Share(1.1, 3) }

// mixedSlots: every third member has one slot less, if the gate has several.
func (d drawing) mixedSlots(s *Scenario) { s.MixedSlots = s.Slots > 1 }

// reload: all members get other constants, one after the other.
func (d drawing) reload(s *Scenario) {
	s.Reload = Reload{
		At: d.Time(s.Skip, s.Duration), Within: d.Time(time.Millisecond, s.Duration/4),
		Backups: 1 + d.IntN(guardian.MaxBackups), MaxInterval: d.Time(30*s.Skip, 200*s.Skip),
	}
	if !s.OnDemand {
		s.Reload.MinInterval = max(s.Op, d.Time(s.MinInterval/3, 3*s.MinInterval))
	}
}

// distant: one or two members are further away than the others: a message takes half a patience or more to them. Not
// where constants differ, too: a receiver with a third of the sender's patience gives up each handoff from so far away.
func (d drawing) distant(s *Scenario) {
	if s.Members < 3 || s.Differ > 0 {
		return
	}
	p := call.Patience(s.Skip)
	s.Network.Distant, s.Network.Away, s.Network.Together = 1+d.IntN(2), d.Time(p/2, 11*p/10), d.Sometimes(0.3)
}

// restart: all members stop at once and start again, some of them late.
func (d drawing) restart(s *Scenario) {
	longest := 20 * call.Patience(s.Skip)
	s.Faults.Restart = sim.Restart{
		At: d.Time(s.Skip, s.Duration), Gracefully: d.Sometimes(0.3), Power: d.Sometimes(0.5),
		After: d.Time(time.Millisecond, longest), Within: d.Time(time.Millisecond, longest),
		Away: d.Maybe(0.5, 0.1, 0.49),
	}
}

// slowDisk: one member's disk is slow, or fails, or a save hangs.
func (d drawing) slowDisk(s *Scenario) {
	s.SlowDisk = sim.Disk{
		Takes: d.Time(time.Millisecond, 2*s.Skip), Slow: d.Share(0.05, 1), SlowFor: d.Time(s.Skip/10, 20*s.Skip),
		Fails: d.Maybe(0.5, 0.01, 0.5), Hangs: d.Maybe(0.3, 0.01, 0.1),
	}
}

// retries: failed runs are repeated, and some operations say "not now".
func (d drawing) retries(s *Scenario) {
	if s.OnDemand {
		return
	}
	s.RetryAfter = d.Time(s.Skip, 2*s.MinInterval)
	s.Hook.Fails, s.Hook.NotNow = d.Share(0.01, 0.5), d.Maybe(0.5, 0.01, 0.5)
}

// replays: an adversary plays recorded datagrams again.
func (d drawing) replays(s *Scenario) {
	s.Network.Replay, s.Network.ReplayWithin = d.Share(0.1, 2), d.Time(s.Skip, s.Duration)
}

// broken: some pairs of members do not hear each other.
func (d drawing) broken(s *Scenario) { s.Network.Broken = d.Share(0.05, 0.3) }

// forged: a hostile member offers tokens that do not exist, with impossible numbers or stamps.
func (d drawing) forged(s *Scenario) { s.Faults.ForgeEvery = d.Time(s.Duration/20, s.Duration) }

// racks lets hosts that stand together fail together.
func (d drawing) racks(s *Scenario) {
	if s.Members < 4 {
		return
	}
	t := &s.Faults.Groups
	t.Racks, t.RackEvery, t.RackFor = 2+d.IntN(s.Members/2-1), d.Time(s.Duration/20, s.Duration),
		d.Time(s.Skip/10, s.Duration/10)
}

// stopsTogether: some members, or all, are told to leave at one moment.
func (d drawing) stopsTogether(s *Scenario) {
	t := &s.Faults.Groups
	t.StopEvery, t.StopFor, t.StopShare = d.Time(s.Duration/20, s.Duration), d.Time(s.Skip/10, s.Duration/10),
		d.Share(0.2, 1)
}

// manyParts: cuts leave three or four parts.
func (d drawing) manyParts(s *Scenario) {
	if s.Members < 3 {
		return
	}
	s.Faults.CutEvery, s.Faults.CutFor = d.Time(s.Duration/20, s.Duration), d.Time(s.Skip, s.Duration/3)
	s.Faults.CutParts = 3 + d.IntN(sim.MaxParts-2)
}

// flaps bounds how often a network is cut.
const flaps = 100

// flapping: the network is cut again and again, for less than the time that it takes to notice, or little more.
func (d drawing) flapping(s *Scenario) {
	noticed := max(s.Membership.DetectAfter, s.Skip)
	s.Faults.CutEvery, s.Faults.CutFor = max(d.Time(s.Skip, 2*noticed), s.Duration/flaps), d.Time(s.Skip/2, 2*noticed)
}

// reboots: operations reboot their hosts, which come back in time, or late. In half of these scenarios the network is
// sound.
func (d drawing) reboots(s *Scenario) {
	s.Slots, s.SlotsShare, s.MixedSlots = 1, 0, false
	s.Keep = d.Time(20*call.Patience(s.Skip), 100*call.Patience(s.Skip))
	s.Hook.Reboots = sim.Reboots{
		Share: d.Share(0.1, 1), Late: d.Maybe(0.5, 0.05, 0.5), Away: d.Time(s.Skip, s.Keep), LateBy: 2 * s.Keep,
		Looked: d.Time(time.Millisecond, 10*s.Skip),
	}
	if d.Sometimes(0.5) {
		s.Network = sim.Network{Latency: s.Network.Latency, Jitter: s.Network.Jitter, Encode: true}
		f := s.Faults
		s.Faults = sim.Faults{
			CrashEvery: f.CrashEvery, DownFor: f.DownFor, MidStep: f.MidStep, HostShare: f.HostShare,
			Restart: f.Restart,
		}
		s.Disk, s.SlowDisk, s.Differ, s.StartWithin = sim.Disk{}, sim.Disk{}, 0, 0
	}
}

// forgets: some members that crash start without anything that they had saved.
func (d drawing) forgets(s *Scenario) {
	if f := &s.Faults; f.CrashEvery > 0 || f.Restart.At > 0 {
		f.ForgetShare = d.Share(0.05, 1)
	}
}

// views: members learn of a change at very different times, so they choose different homes.
func (d drawing) views(s *Scenario) { s.Membership.Spread = d.Time(s.Skip, 30*s.Skip) }

package wander

import (
	"reflect"
	"time"

	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/calendar"
)

// piece is a part of the world that few scenarios have. Pieces are drawn last, each from a source of its own, so that a
// new piece leaves all others as they were.
type piece struct {
	// name is what hunts and docs/mutants.md call it.
	name string
	// label seeds the piece's random numbers. It was chosen so that the seeds that had failed before do not have this
	// piece.
	label uint64
	share float64
	draw  func(drawing, *Scenario)
	// alone is true if the fleet has none of the pieces before this one.
	alone bool
}

// pieces returns all pieces, in the order in which they are drawn.
func pieces() []piece {
	return append([]piece{
		{name: "deaf and mute members", label: 15, share: 0.1, draw: drawing.deafAndMute},
		{name: "operations longer or shorter than op", label: 16, share: 0.1, draw: drawing.wrongOp},
		{name: "a wrong max_interval", label: 19, share: 0.08, draw: drawing.wrongMaxInterval},
		{name: "round trips of up to several skips", label: 13, share: 0.15, draw: drawing.farApart},
		{name: "members further away than others, or two sites", label: 717, share: 0.12, draw: drawing.distant},
		{name: "a fault that stays", label: 20, share: 0.15, draw: drawing.standing},
		{name: "one link that stays cut", label: 227, share: 0.08, draw: func(_ drawing, s *Scenario) {
			s.stands(OneLinkCut)
		}},
		{name: "one disk that stays slow", label: 261, share: 0.08, draw: func(_ drawing, s *Scenario) {
			s.stands(OneDiskSlow)
		}},
		{name: "runs on demand", label: 21, share: 0.15, draw: drawing.onDemand},
		{name: "retries", label: 22, share: 0.15, draw: drawing.retries},
		{name: "windows", label: 23, share: 0.1, draw: drawing.windows},
		{name: "operators", label: 28, share: 0.1, draw: drawing.operators},
		{name: "only operations fail, under a brake", label: 27, share: 0.05, draw: drawing.brakes, alone: true},
		{name: "hosts that are not ready", label: 65, share: 0.1, draw: drawing.readiness},
		{name: "one disk slower than the others", label: 305, share: 0.1, draw: drawing.slowDisk},
		{name: "members that ask before a run", label: 81, share: 0.1, draw: func(_ drawing, s *Scenario) {
			s.AskBeforeRun = true
		}},
		{name: "operators who ask for new tokens", label: 1298, share: 0.1, draw: drawing.renewals},
		{name: "racks that lose power", label: 1637, share: 0.12, draw: drawing.racks},
		{name: "many members that stop in one moment", label: 1737, share: 0.12, draw: drawing.stopsTogether},
		{name: "a network in more than two parts", label: 2757, share: 0.12, draw: drawing.manyParts},
		{name: "a network that flaps", label: 3077, share: 0.12, draw: drawing.flapping},
		{name: "more than 40 members", label: 125, share: 0.06, draw: drawing.large},
		{name: "a restart of all members among other faults", label: 445, share: 0.1, draw: drawing.restart},
		{
			name: "a restart of all members and nothing else", label: 710, share: 0.1, draw: drawing.restartAlone,
			alone: true,
		},
		{name: "leaves that are heard of sooner than other changes", label: 2, share: 0.06, draw: drawing.leaves},
		{name: "operations that take longer on some members", label: 115, share: 0.1, draw: drawing.unequalHooks},
		{name: "constants that differ, as in a roll-out", label: 175, share: 0.1, draw: drawing.rollOut},
		{
			name: "a large fleet with a long first lap and nothing else", label: 114, share: 0.06,
			draw:  drawing.longLap,
			alone: true,
		},
		{name: "callers beside an operation", label: 127, share: 0.1, draw: drawing.callers},
		{name: "grants that outlive their hosts", label: 4001, share: 0.08, draw: drawing.reboots},
		{name: "tokens for a share of the members", label: 104, share: 0.04, draw: drawing.shareOfMembers},
		{name: "members that lose what they have saved", label: 4100, share: 0.15, draw: drawing.forgets},
	}, shapes()...)
}

// shapes returns the pieces that are a shape.
func shapes() []piece {
	return []piece{
		{name: "hosts that soak", label: 135, share: 0.08, draw: drawing.soaks},
		{name: "a limit of members that are down", label: 208, share: 0.08, draw: drawing.downLimit},
		{name: "stages", label: 284, share: 0.08, draw: drawing.stages},
	}
}

// dice returns the piece's random numbers for a seed.
func (p *piece) dice(seed uint64) drawing {
	return drawing{sim.NewDice(seed, p.label)}
}

// drawPieces draws the rare pieces, and returns the names of those that make a difference.
func (s *Scenario) drawPieces() (names []string) {
	for _, p := range pieces() {
		d := p.dice(s.Seed)
		if !d.Sometimes(p.share) {
			continue
		}
		before := *s
		p.draw(d, s)
		if p.alone {
			names = nil
		}
		if !reflect.DeepEqual(*s, before) {
			names = append(names, p.name)
		}
	}
	return names
}

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

// large: more members than in all other scenarios, for little longer than a lap. They ask each other, so their tokens
// are guarded. Faults of members are as frequent as in a small fleet.
func (d drawing) large(s *Scenario) {
	if s.onDemand() || s.Standing != NothingStands || s.Windows != nil {
		return
	}
	members := time.Duration(41+int(d.Share(1, 60))) - 1
	by := members / time.Duration(s.Members)
	s.Members, s.Backups, s.StartWithin = int(members), max(s.Backups, 1), 0
	s.Op = min(s.Op, s.Skip)
	s.Hook.Takes, s.Hook.Timeout = min(s.Hook.Takes, s.Op), min(s.Hook.Timeout, 5*s.Op)
	s.Network.Latency, s.Network.Jitter = min(s.Network.Latency, s.Skip/10), min(s.Network.Jitter, s.Skip/10)
	f := &s.Faults
	f.CrashEvery, f.PauseEvery, f.LeaveEvery, f.DeafEvery = by*f.CrashEvery, by*f.PauseEvery, by*f.LeaveEvery,
		by*f.DeafEvery
	lap := s.lap()
	s.MinInterval, s.MaxInterval, s.Duration = lap/2, lap, lap+lap/2
}

// deafAndMute: members that hear nothing, or are not heard.
func (d drawing) deafAndMute(s *Scenario) {
	s.Faults.DeafEvery, s.Faults.DeafFor = d.Time(s.Duration/20, s.Duration), d.Time(s.Skip, s.Duration/3)
	s.Faults.MuteShare = d.Share(0.1, 1)
}

// leaves: a member that leaves in order tells the others itself, as it does in fleets that are not large.
func (d drawing) leaves(s *Scenario) {
	s.Membership.LeaveSpread = d.Time(time.Millisecond, 100*time.Millisecond)
}

// lapTimeouts bounds a lap, in handoff timeouts, where operations take longer than the operator says.
const lapTimeouts = 2000

// wrongOp: operations are shorter or longer than the operator says, by up to a factor of ten, or longer than
// max_interval. Without guardians no member asks before it makes a token, so such a fleet must know the duration.
func (d drawing) wrongOp(s *Scenario) {
	if s.Backups == 0 {
		return
	}
	if d.Sometimes(0.3) {
		s.grow(10 + d.IntN(30))
	}
	s.Hook.Takes = d.Time(s.Op/10, 10*s.Op)
	if d.Sometimes(0.3) {
		s.Hook.Takes = d.Time(s.MaxIntervalInForce(), 3*s.MaxIntervalInForce())
	}
	// A lap of thousands of heartbeats would take too long to explore.
	s.Hook.Takes = min(s.Hook.Takes, max(s.Op, time.Duration(lapTimeouts/s.Members)*max(s.Skip, 250*time.Millisecond)))
	s.Duration = max(s.Duration, 2*s.lap())
}

// grow makes the fleet larger at the same load: in a small one, every member asks all others.
func (s *Scenario) grow(members int) {
	by := float64(members) / float64(s.Members)
	s.Members = members
	s.MinInterval = time.Duration(by * float64(s.MinInterval))
	s.MaxInterval = time.Duration(by * float64(s.MaxInterval))
	s.Duration = time.Duration(by * float64(s.Duration))
}

// wrongMaxInterval: the operator has set max_interval too low or too high, by up to a factor of ten. Without guardians
// no member asks before it makes a token, so such a fleet needs the right one.
func (d drawing) wrongMaxInterval(s *Scenario) {
	if s.Backups > 0 {
		s.MaxInterval = max(s.MinInterval, d.Time(s.MaxIntervalInForce()/10, 10*s.MaxIntervalInForce()))
	}
}

// farApart: a round trip takes up to several skips. Without guardians, a fleet needs the right max_interval for that.
func (d drawing) farApart(s *Scenario) {
	s.Network.Latency = d.Time(s.Skip/10, 2*s.Skip)
	s.Network.Jitter = min(s.Network.Jitter, s.Network.Latency)
	if s.Backups == 0 {
		s.MaxInterval = max(s.MaxIntervalInForce(), 3*s.lap())
	}
}

// farthest is the longest round trip, in handoff timeouts, at which every member still has its turn.
const farthest = 8

// distant: some members are further away than the others, at one place or each at its own. Members know distant ones by
// the first bytes of their identities, which are all alike if identities are in order.
func (d drawing) distant(s *Scenario) {
	if s.Members < 2 || s.Order == sim.InOrder {
		return
	}
	n := s.Network
	n.Distant, n.Together = 1+d.IntN(s.Members-1), d.Sometimes(0.5)
	if d.Sometimes(0.5) {
		n.Distant = 1
	}
	n.Away = time.Millisecond
	ways := (n.RoundTrip() - (&sim.Network{Latency: n.Latency, Jitter: n.Jitter}).RoundTrip()) / time.Millisecond
	most := (farthest*wander.Patience(s.Skip)*9/10 - 2*(n.Latency+n.Jitter)) / ways
	if most <= s.Skip/10 {
		return // All members are nearly that far away.
	}
	n.Away = max(d.Time(s.Skip/10, most), d.Time(s.Skip/10, most))
	s.Network = n
	// Otherwise a token could be taken for lost before a member can answer.
	s.MaxInterval = max(s.MaxIntervalInForce(), 3*s.lap())
}

// standing gives a scenario a fault that stays.
func (d drawing) standing(s *Scenario) { s.stands(Standing(1 + d.IntN(int(NothingArrives)))) }

// stands gives a scenario that fault, which stays, if it has none. Large fleets would take too long to explore.
func (s *Scenario) stands(fault Standing) {
	if s.Standing == NothingStands && s.Members > 1 && s.Members < 10 {
		s.Standing = fault
	}
}

// slowDisk: the saves of one member are slow, and may fail or hang. The disks of the others do not change.
func (d drawing) slowDisk(s *Scenario) {
	s.SlowDisk = sim.Disk{
		Takes: d.Time(time.Millisecond, s.Skip), Slow: d.Share(0.1, 1), SlowFor: d.Time(s.Skip/10, 20*s.Skip),
		Fails: d.Maybe(0.3, 0.01, 0.5), Hangs: d.Maybe(0.3, 0.01, 0.1),
	}
}

// onDemand: members run only when a caller waits, from nearly always to hardly ever, and most often without a
// min_interval. Without guardians such a fleet needs the right max_interval, too.
func (d drawing) onDemand(s *Scenario) {
	s.Demand = sim.Demand{
		Every: d.Time(s.Op/10, 4*s.MinInterval), Queued: d.Maybe(0.5, 0.05, 0.8), Withdrawn: d.Maybe(0.5, 0.05, 0.8),
	}
	if d.Sometimes(0.7) {
		s.MinInterval = 0
	}
	if s.Backups == 0 {
		s.MaxInterval = max(s.MaxIntervalInForce(), 3*s.lap())
	}
}

// callers: callers ask for runs of a gate whose members have an operation of their own, from nearly always to hardly
// ever. Without guardians such a fleet needs the right max_interval, too.
func (d drawing) callers(s *Scenario) {
	if s.onDemand() {
		return
	}
	s.Demand = sim.Demand{
		Beside: true, Every: d.Time(s.Op/10, 4*s.MinInterval),
		Queued: d.Maybe(0.5, 0.05, 0.8), Withdrawn: d.Maybe(0.5, 0.05, 0.8),
	}
	if s.Backups == 0 {
		s.MaxInterval = max(s.MaxIntervalInForce(), 3*s.lap())
	}
}

// retries: failed runs are repeated, and some operations say "not now".
func (d drawing) retries(s *Scenario) {
	if s.onDemand() {
		return
	}
	s.RetryAfter = d.Time(s.Skip, 2*s.MinInterval)
	s.Hook.Fails = d.Share(0.01, 0.9)
	s.Hook.NotNow = d.Maybe(0.5, 0.01, 0.9)
}

// operators: the gate is paused and resumed, and failures may stop it.
func (d drawing) operators(s *Scenario) {
	s.Operators = sim.Operators{
		Every: d.Time(s.Skip, s.Duration), For: d.Time(s.Skip, s.Duration/2), HereShare: d.Share(0.01, 0.5),
	}
	if d.Sometimes(0.5) {
		s.Operators.StopAfter = 1 + d.IntN(3)
	}
}

// brakes: only operations fail, so that all members know the sequence of the failures. In a slow network a token might
// be revived.
func (d drawing) brakes(s *Scenario) {
	*s = Scenario{
		Seed: s.Seed, Members: s.Members, Skip: s.Skip, Op: s.Op, MinInterval: max(s.MinInterval, s.Op), Walk: s.Walk,
		Backups: 2, TokenInPlace: true,
		Network: sim.Network{Latency: min(s.Network.Latency, s.Skip/10), Encode: true}, Membership: s.Membership,
		Duration: s.Duration,
		Hook:     sim.Hook{Takes: s.Op, Fails: d.Share(0.3, 0.9)},
		Operators: sim.Operators{
			Every: d.Time(s.Skip, s.Duration), For: d.Time(s.Skip, s.Duration/2), StopAfter: 1 + d.IntN(4),
		},
	}
}

// renewals: operators ask for a new token now and then, although there may be one.
func (d drawing) renewals(s *Scenario) {
	s.Faults.RenewEvery = d.Time(s.Skip, s.Duration/2)
}

// restart: all members stop at once and start again, some of them late.
func (d drawing) restart(s *Scenario) {
	s.Faults.Restart = d.restarting(d.Time(s.Skip, s.Duration), s.MinInterval)
}

// restarting draws a restart. longest bounds how long members are away.
func (d drawing) restarting(at, longest time.Duration) sim.Restart {
	r := sim.Restart{
		At: at, Gracefully: d.Sometimes(0.3), Power: d.Sometimes(0.5), After: d.Time(time.Millisecond, longest),
		Away: d.Maybe(0.5, 0.1, 0.49),
	}
	if d.Sometimes(0.7) {
		r.Within = d.Time(time.Millisecond, longest)
	}
	return r
}

// restartAlone: nothing else goes wrong, and min_interval is longer than the restart. Some members have run lately,
// others are due.
func (d drawing) restartAlone(s *Scenario) {
	*s = Scenario{
		Seed: s.Seed, Members: s.Members, Skip: s.Skip, Op: min(s.Op, 20*s.Skip), Walk: s.Walk, Backups: s.Backups,
		Slots: s.Slots, WaitAlone: s.WaitAlone,
		Network: sim.Network{Latency: min(s.Network.Latency, s.Skip/10), Encode: true}, Membership: s.Membership,
	}
	s.Hook.Takes = s.Op
	s.Membership.Spread = min(s.Membership.Spread, 10*time.Second)
	timeout := wander.Patience(s.Skip)
	s.Faults.Restart = d.restarting(3*timeout+d.Time(s.lap()/10, 3*s.lap()), 20*timeout)
	back, within := s.restarted()
	s.MinInterval = 2 * (time.Duration(back) + within)
	s.Duration = time.Duration(back) + 2*within
}

// unequalHooks: the operations of some members take up to five times as long. Without guardians a fleet needs the right
// max_interval for that.
func (d drawing) unequalHooks(s *Scenario) {
	if s.Operators.StopAfter > 0 || s.restarts() {
		return
	}
	s.Hook.Unequal = d.Share(0.1, 4)
	if s.Backups == 0 {
		s.MaxInterval = max(s.MaxIntervalInForce(), 3*s.lap())
	}
	s.Duration = max(s.Duration, s.lap())
}

// rollOut: some members have other constants than the rest. Without guardians no member asks before it makes a token,
// so such a fleet needs the right ones.
func (d drawing) rollOut(s *Scenario) {
	if s.Backups > 0 && s.Operators.StopAfter == 0 && !s.restarts() {
		s.Differ = d.Share(1.1, 10)
	}
}

// longLap: nothing goes wrong, except that some datagrams are lost. Most members meet no token for several times
// max_interval.
func (d drawing) longLap(s *Scenario) {
	timeout := wander.Patience(s.Skip)
	*s = Scenario{
		Seed: s.Seed, Members: 41 + d.IntN(60), Skip: s.Skip, Op: s.Op, MinInterval: s.Op, Walk: s.Walk,
		Backups: 2 + d.IntN(2), LongLap: true,
		Network: sim.Network{
			Latency: min(s.Network.Latency, s.Skip/10), Loss: d.Maybe(0.5, 0.01, 0.15), Encode: true,
		}, Membership: s.Membership,
	}
	s.Hook.Takes = d.Time(timeout, lapTimeouts/time.Duration(s.Members)*timeout)
	s.Hook.Unequal = d.Maybe(0.5, 0.1, 1)
	s.MaxInterval = max(d.Time(8*timeout, s.lap()/2), s.MinInterval)
	s.Membership.Spread = min(s.Membership.Spread, timeout)
	s.Duration = s.lap()
}

// readiness: hosts are asked whether they need a run, and some say no.
func (d drawing) readiness(s *Scenario) {
	if s.onDemand() {
		return
	}
	s.Ready = sim.Ready{
		No: d.Share(0.05, 0.8), Takes: d.Time(s.Skip/10, 4*s.Skip), Timeout: d.Time(s.Skip, 4*s.Skip),
		Again: d.Time(s.Skip, 2*s.MinInterval),
	}
}

// windowedFor is for how many minutes the windows of a scenario open and close; then they stay open for the rest of the
// day.
const windowedFor = 60

// windows: members may run for some minutes, and then not for some minutes.
func (d drawing) windows(s *Scenario) {
	if s.Standing != NothingStands {
		return
	}
	open, closed := 1+d.IntN(5), 1+d.IntN(5)
	s.Windows = calendar.Draw(sim.NewDice(s.Seed, 4200), open, closed, windowedFor)
}

// shareOfMembers: as many tokens are in use as there are members for them, and faults last for long enough that the
// number follows the view: at most five.
func (d drawing) shareOfMembers(s *Scenario) {
	if s.Keep > 0 || s.LongLap || s.restarts() || s.Standing != NothingStands || s.Core.Of > 0 {
		return
	}
	most := d.Share(1.2, 5)
	s.Slots, s.MixedSlots, s.SlotsShare = 0, false, min(1+int(100*most/float64(s.Members)), 100)
	s.Duration = min(max(s.Duration, d.Time(time.Minute, 4*time.Minute)), 1_000_000*s.Skip)
}

// forgets: some members that crash start without anything that they had saved.
func (d drawing) forgets(s *Scenario) {
	if f := &s.Faults; f.CrashEvery > 0 || f.Restart.At > 0 && !s.restarts() {
		f.ForgetShare = d.Share(0.05, 1)
	}
}

// reboots: operations reboot their hosts, which come back in time, or late. In half of these scenarios the network is
// sound.
func (d drawing) reboots(s *Scenario) {
	// Nobody runs whose guardians do not answer, and after a restart of all nobody runs for long.
	if s.Standing != NothingStands || s.LongLap || s.restarts() {
		return
	}
	patience := wander.Patience(s.Skip)
	s.Slots, s.SlotsShare, s.MixedSlots, s.Backups = 1, 0, false, max(s.Backups, 1)
	s.Keep = d.Time(20*patience, 100*patience)
	s.Hook.Reboots = sim.Reboots{
		Share: d.Share(0.1, 1), Late: d.Maybe(0.5, 0.05, 0.5), Away: d.Time(patience, s.Keep), LateBy: 2 * s.Keep,
		Looked: d.Time(time.Millisecond, 10*patience),
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

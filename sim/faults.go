package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Faults are the faults of members and of the network, except lost messages. Most of them happen at random times. Every
// is the mean time between two faults of a kind, at each member if it is a fault of members; zero means never. For is
// the mean duration.
type Faults struct {
	CrashEvery, DownFor time.Duration
	// MidStep is the share of crashes that happen between two effects of one step.
	MidStep float64
	// HostShare is the share of the other crashes that take the whole host down, including the run and its guard.
	HostShare float64
	// ForgetShare is the share of these and of a restart after which a member finds nothing of what it had saved.
	ForgetShare float64
	// A member is paused or, in SleepShare of these faults, its host is suspended.
	PauseEvery, PauseFor time.Duration
	SleepShare           float64
	// A member leaves gracefully and joins again.
	LeaveEvery, AwayFor time.Duration
	// The network is parted in two, in OneWayShare of these faults for one direction only; or in CutParts, if that is
	// more.
	CutEvery, CutFor time.Duration
	OneWayShare      float64
	CutParts         int
	// A member hears nothing or, in MuteShare of these faults, nobody hears it.
	DeafEvery, DeafFor time.Duration
	MuteShare          float64
	// The token is lost: all Commits of one handoff are.
	LoseTokenEvery time.Duration
	// A hostile member offers a token that does not exist, with an impossible number or stamp.
	ForgeEvery time.Duration
	// RenewEvery is the mean time between two requests of an operator for a new token, each at one member, although
	// there may be a token.
	RenewEvery time.Duration
	// Partition is one partition at a given time. Restart is one restart of all members.
	Partition Partition
	Restart   Restart
	Groups    Groups
}

// Partition parts the network in two, once, in both directions.
type Partition struct {
	// At is when it begins. For is its duration; zero means that there is none.
	At, For time.Duration
	// Share is the share of members, drawn at random, that are cut off from the others: at least one, and not all.
	Share float64
}

// longestEffects bounds the number of effects before a crash between two effects.
const longestEffects = 8

// renewedSlots is from how many slots an operator chooses one to renew: a drawn gate has fewer, so some do not exist.
const renewedSlots = 16

type faults struct {
	c    *Cluster
	what Faults
	dice *rand.Rand
	// over is true once no more faults begin.
	over bool
	// cuts counts the partitions, so that the end of one does not end the next one.
	cuts int
	// losing is true while the next handoff is to lose its Commits.
	losing bool
}

// StartFaults begins the faults. end ends and repairs all of them: afterwards the network is as given, every member is
// up, and there are no faults.
func (c *Cluster) StartFaults(what Faults) (end func(Network)) {
	f := &faults{c: c, what: what, dice: dice(c.cfg.Seed, faultsLabel)}
	c.faults = f
	members := time.Duration(len(c.members))
	f.every(what.CrashEvery/members, f.crash)
	f.every(what.PauseEvery/members, f.pause)
	f.every(what.LeaveEvery/members, f.leave)
	f.every(what.CutEvery, f.cut)
	f.every(what.DeafEvery/members, f.deafen)
	f.every(what.Groups.RackEvery, f.rack)
	f.every(what.Groups.StopEvery, f.stopTogether)
	if what.Partition.For > 0 {
		c.After(what.Partition.At, f.partition)
	}
	f.every(what.RenewEvery, func() { f.c.Renew(f.dice.IntN(len(f.c.members)), uint8(f.dice.IntN(renewedSlots))) })
	if what.Restart.At > 0 {
		c.After(what.Restart.At, f.restart)
	}
	f.every(c.cfg.Operators.Every, f.operate)
	f.every(what.LoseTokenEvery, func() { f.losing = true })
	f.every(what.ForgeEvery, f.forge)
	if what.LoseTokenEvery > 0 {
		c.LoseToken(func() bool {
			losing := f.losing
			f.losing = false
			return losing
		})
	}
	return f.end
}

// every calls do at random times with the given mean distance.
func (f *faults) every(mean time.Duration, do func()) {
	if mean <= 0 {
		return
	}
	f.c.After(f.around(mean), func() {
		if !f.over {
			do()
			f.every(mean, do)
		}
	})
}

// around draws a time with an exponential distribution.
func (f *faults) around(mean time.Duration) time.Duration {
	return time.Duration(f.dice.ExpFloat64() * float64(mean))
}

func (f *faults) crash() {
	i := f.dice.IntN(len(f.c.members))
	if !f.c.Up(i) {
		return
	}
	switch {
	case happens(f.dice, f.what.MidStep):
		f.c.CrashBefore(i, 1+f.dice.IntN(longestEffects))
	case happens(f.dice, f.what.HostShare):
		f.c.PowerCut(i)
	default:
		f.c.Crash(i)
	}
	f.forget(i)
	f.startAgain(i, f.around(f.what.DownFor))
}

// forget lets a member that is down forget what it had saved, perhaps.
func (f *faults) forget(i int) {
	if happens(f.dice, f.what.ForgetShare) && !f.c.Up(i) {
		f.c.Forget(i)
	}
}

// startAgain starts a member after a while. If it is not down by then, it is started when the faults end.
func (f *faults) startAgain(i int, after time.Duration) {
	f.c.After(after, func() {
		if !f.c.Up(i) {
			f.c.Start(i)
		}
	})
}

func (f *faults) pause() {
	i := f.dice.IntN(len(f.c.members))
	d := f.around(f.what.PauseFor)
	if happens(f.dice, f.what.SleepShare) {
		f.c.Sleep(i, d)
	} else {
		f.c.Pause(i, d)
	}
}

func (f *faults) leave() {
	i := f.dice.IntN(len(f.c.members))
	f.c.Leave(i)
	f.startAgain(i, f.around(f.what.AwayFor))
}

func (f *faults) cut() {
	if f.c.net.sides != nil {
		return
	}
	sides, parts := make([]uint8, len(f.c.members)), max(f.what.CutParts, 2)
	for i := range sides {
		if parts > 2 {
			sides[i] = uint8(f.dice.IntN(parts))
		} else if f.dice.Uint64()&1 == 0 {
			sides[i] = 1
		}
	}
	f.part(sides, happens(f.dice, f.what.OneWayShare) && parts == 2, f.around(f.what.CutFor))
}

func (f *faults) deafen() {
	i := f.dice.IntN(len(f.c.members))
	serve := f.c.Deafen
	if happens(f.dice, f.what.MuteShare) {
		serve = f.c.Mute
	}
	serve(i, true)
	f.c.After(f.around(f.what.DeafFor), func() {
		if !f.over {
			serve(i, false)
		}
	})
}

// partition begins the planned partition. It replaces a random one.
func (f *faults) partition() {
	if f.over {
		return
	}
	n := len(f.c.members)
	sides := make([]uint8, n)
	apart := min(max(int(math.Round(f.what.Partition.Share*float64(n))), 1), n-1)
	for _, i := range f.dice.Perm(n)[:max(apart, 0)] {
		sides[i] = 1
	}
	f.c.Heal()
	f.part(sides, false, f.what.Partition.For)
}

func (f *faults) part(sides []uint8, oneWay bool, lasts time.Duration) {
	f.cuts++
	this := f.cuts
	f.c.Divide(sides, oneWay)
	f.c.After(lasts, func() {
		if f.cuts == this {
			f.c.Heal()
		}
	})
}

func (f *faults) forge() {
	n := len(f.c.members)
	from := f.dice.IntN(n)
	to := (from + 1 + f.dice.IntN(max(n-1, 1))) % n
	birth, seq := f.c.Instant(from).Wall, wire.Seq(1)
	if happens(f.dice, 0.5) {
		birth = wire.MaxBirth
	} else {
		seq = wire.MaxSeq - wire.Seq(f.dice.IntN(3))
	}
	if f.c.Up(from) && from != to {
		f.c.Forge(from, to, birth, seq)
	}
}

// Forge delivers the offer of a token that does not exist, as from a member with a valid key.
func (c *Cluster) Forge(from, to int, birth int64, seq wire.Seq) {
	offers := slices.IndexFunc(c.cfg.Descriptor.Kinds, func(k policy.KindInfo) bool { return k.Part == policy.Offers })
	m := wire.Message{
		Gate: theGate(), Kind: c.cfg.Descriptor.Kinds[offers].Kind, From: c.ID(from), To: c.ID(to),
		Exchange: wire.Exchange(Mix(uint64(c.now)) | 1),
		Token:    wire.Ref{ID: wire.TokenID{Birth: birth, Generator: c.ID(from), Random: Mix(uint64(birth))}, Seq: seq},
	}
	c.cfg.Descriptor.Stamp(&m)
	c.Inject(m)
}

// end ends all faults. A member that is leaving is started again when it has left.
func (f *faults) end(n Network) {
	f.over = true
	f.c.Repair(n)
	f.mend()
	for i := range f.c.members {
		f.keepUp(i)
	}
	f.resume()
}

// mend ends what is neither a fault of the network nor of a member's process.
func (f *faults) mend() {
	f.c.Intercept(nil)
	f.c.mendDisks()
	f.c.cfg.Hook.Reboots.Share = 0
	f.c.askNobody()
	for i := range f.c.members {
		f.c.members[i].crashBefore = 0
	}
}

// resume ends what operators do.
func (f *faults) resume() {
	if f.c.directives.layers != nil {
		f.c.mendOperation()
		f.c.After(ResumedAfter, f.c.resumeAll)
	}
}

func (f *faults) keepUp(i int) {
	if !f.c.Up(i) {
		f.c.Start(i)
		return
	}
	if f.c.members[i].leaving {
		f.c.After(time.Second, func() { f.keepUp(i) })
	}
}

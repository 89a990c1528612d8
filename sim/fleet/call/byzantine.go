package call

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
	"github.com/wanderd/wanderd/wire"
)

// Habits are the kinds of lies of a home. Its other lies, about tokens, are those of any member with a copy: see the
// Byzantine members of sim/fleet/wander.
type Habits uint16

const (
	// Withholds: it queues callers, and never tells the holder of them.
	Withholds Habits = 1 << iota
	// SendsAway: it tells callers to call again in a hundred years.
	SendsAway
	// Invents: it tells the holder of members that want nothing, and have waited longest.
	Invents
	// Forgets: it tells other homes that their waiters did not answer an offer.
	Forgets
	// Misleads: it names wrong holders, and wrong numbers.
	Misleads
	// Vouches: it answers each announcement that it hears of: no newer copy is known.
	Vouches
	// Replays: it plays again what others have sent to each other.
	Replays

	habitsEnd
)

// Byzantine is one member that lies until its key is revoked: mostly the first home. It hears everything that members
// send, because it has the fleet's secret. Between its lies its machine takes part like any other.
type Byzantine struct {
	// Every is the mean time between two lies that it tells unasked.
	Every  time.Duration
	Habits Habits
}

// ByzantineScenario is a fleet in which nothing goes wrong but that one home lies.
type ByzantineScenario struct {
	Scenario  Scenario
	Byzantine Byzantine
}

// DrawByzantine returns the scenario of a seed.
func DrawByzantine(seed uint64) ByzantineScenario {
	d := drawing{sim.NewDice(seed, 131)}
	s := Scenario{
		Seed: seed, Members: 4 + d.IntN(12), Backups: 1 + d.IntN(3), OnDemand: true, AskFirst: d.Sometimes(0.5),
		Skip: d.Time(250*time.Millisecond, 2*time.Second),
	}
	s.Op = d.Time(s.Skip/4, 4*time.Second)
	s.Demand.Every = time.Duration(float64(s.Members) * float64(s.Op) / d.Share(0.02, 0.8))
	s.Duration = time.Duration(d.Share(50, 200)) * max(s.Op, s.Skip)
	s.Network = sim.Network{Latency: d.Time(100*time.Microsecond, s.Skip/32), Encode: true}
	s.Membership = sim.Membership{GossipAfter: d.Time(time.Millisecond, time.Second), DetectAfter: 5 * time.Second}
	s.Hook = sim.Hook{Takes: s.Op, Spread: d.Share(0.02, 0.5)}
	l := Byzantine{Every: d.Time(s.Skip/50, 4*s.Skip), Habits: 1 << d.IntN(habits)}
	if d.Sometimes(0.5) {
		l.Habits |= Habits(d.IntN(int(habitsEnd)))
	}
	return ByzantineScenario{Scenario: s, Byzantine: l}
}

// habits is the number of habits.
const habits = 7

// byzantine is a Byzantine home at work.
type byzantine struct {
	Byzantine
	c          *sim.Cluster
	dice       *rand.Rand
	who        int
	over       bool
	descriptor policy.Descriptor
	// heard are the last messages of others. holder is the last that has said that it holds the token.
	heard  [64]wire.Message
	said   int
	holder wire.Message
}

// corrupt starts the members of a world, lets them live, and makes the first home of all the one that will lie.
func (l *byzantine) corrupt(c *sim.Cluster, s *Scenario) error {
	l.c = c
	s.start(c)
	c.Intercept(func(m *wire.Message) sim.Fate {
		if m.Kind == call.KindCall {
			l.who = sim.IndexOf(m.To)
		}
		return sim.Fate{}
	})
	return c.Run(policy.Time(max(20*s.Skip, s.Demand.Every)))
}

// begin makes it lie from now on.
func (l *byzantine) begin() {
	l.c.Intercept(l.overhear)
	l.next()
}

// overhear is called for every message that is sent.
func (l *byzantine) overhear(m *wire.Message) sim.Fate {
	if sim.IndexOf(m.From) == l.who {
		return sim.Fate{Lose: l.twists(m)}
	}
	l.heard[l.said%len(l.heard)] = *m
	l.said++
	if m.Kind == guardian.KindHeartbeat {
		l.holder = *m
		if l.Habits&Vouches != 0 && m.Exchange != 0 {
			lie := *m
			lie.Kind, lie.From, lie.To, lie.Nonce = guardian.KindHeard, l.c.ID(l.who), m.From, 1
			l.say(&lie)
		}
	}
	return sim.Fate{}
}

// twists reports whether a message of its own machine is not sent, perhaps because another one is.
func (l *byzantine) twists(m *wire.Message) bool {
	lie := *m
	switch {
	case m.Kind == call.KindNext && m.Nonce == 0:
		return l.Habits&Withholds != 0
	case m.Kind == call.KindQueued && l.Habits&SendsAway != 0:
		lie.Nonce = 100 * 365 * 24 * wire.Nonce(time.Hour)
	case (m.Kind == call.KindQueued || m.Kind == call.KindWhere) && l.Habits&Misleads != 0 && m.Token.IsWhole():
		lie.Token.Seq = l.number(lie.Token.Seq)
		wrong := l.anyone()
		copy(lie.Load[:], wrong[:])
	default:
		return false
	}
	l.say(&lie)
	return true
}

func (l *byzantine) anyone() wire.MemberID { return l.c.ID(l.dice.IntN(l.c.Members())) }

// number draws a number: one nearby, one that only a revival can have, or the highest that members believe.
func (l *byzantine) number(n wire.Seq) wire.Seq {
	switch l.dice.IntN(4) {
	case 0:
		return n + wire.Seq(l.dice.IntN(100))
	case 1:
		return max(n, 2) - 1
	case 2:
		return n.Revived(uint8(l.dice.Uint64()))
	}
	return wire.LatestSeq(l.c.Instant(l.who).Wall) - wire.Seq(l.dice.IntN(3))
}

// say sends m a moment later, if it looks like a message.
func (l *byzantine) say(m *wire.Message) {
	lie := *m
	l.descriptor.Stamp(&lie)
	if lie.To == lie.From || !l.descriptor.WellFormed(&lie) {
		return
	}
	l.c.After(0, func() {
		if !l.over {
			l.c.Inject(lie)
		}
	})
}

// next tells a lie after a while, and arranges the next one.
func (l *byzantine) next() {
	l.c.After(time.Duration(l.dice.ExpFloat64()*float64(l.Every)), func() {
		if !l.over {
			l.lie()
			l.next()
		}
	})
}

// lie tells the lies that nobody has asked for.
func (l *byzantine) lie() {
	if l.Habits&Replays != 0 && l.said > 0 {
		l.c.Inject(l.heard[l.dice.IntN(min(l.said, len(l.heard)))])
	}
	if !l.holder.Token.IsWhole() {
		return
	}
	told := wire.Message{Gate: l.holder.Gate, Kind: call.KindNext, From: l.c.ID(l.who), Token: l.holder.Token}
	if l.Habits&Invents != 0 {
		invented := told
		invented.To, invented.Exchange = l.holder.From, wire.Exchange(l.dice.Uint64()|1)
		for i := range 9 {
			who := l.anyone()
			call.Tell(&invented.Load, i, who, time.Hour, uint32(l.dice.Uint64()|1))
		}
		l.say(&invented)
	}
	if l.Habits&Forgets == 0 {
		return
	}
	for i := range l.heard {
		if m := &l.heard[i]; m.Kind == call.KindCall && m.Nonce > 0 {
			forgotten := told
			forgotten.To, forgotten.Exchange, forgotten.Nonce = m.To, wire.Exchange(l.dice.Uint64()|1), 2
			call.Tell(&forgotten.Load, 0, m.From, time.Second, uint32(m.Exchange))
			l.say(&forgotten)
		}
	}
}

// Explore lets a home lie for a while, and then revokes its key. While it lies, no more than two operations of the
// others run at once, and every caller is served in time; two reports whether two ran at once. Afterwards every caller
// is served, too: nothing that it has said outlives its key.
func (s *ByzantineScenario) Explore(watchers ...sim.Watcher) (two bool, err error) {
	served := check.NewServed(s.Scenario.Members)
	l := &byzantine{
		Byzantine: s.Byzantine, dice: rand.New(rand.NewPCG(s.Scenario.Seed, sim.Mix(132))),
		descriptor: call.Descriptor(),
	}
	judge := s.judge(l)
	c := s.Scenario.NewCluster(append(watchers, append(s.proof(), judge, served)...)...)
	if err := l.corrupt(c, &s.Scenario); err != nil {
		return judge.two, err
	}
	if l.dice.IntN(4) == 0 {
		l.who = l.dice.IntN(c.Members())
	}
	judge.since = c.Now()
	l.begin()
	if err := c.Run(c.Now().Add(s.Scenario.Duration)); err != nil {
		return judge.two, err
	}
	if err := judge.end(c.Now()); err != nil {
		return judge.two, err
	}
	l.over = true
	c.Intercept(nil)
	c.PowerCut(l.who)
	healed := c.Now()
	judge.since = policy.Never
	if err := c.Run(healed.Add(s.Scenario.bound())); err != nil {
		return judge.two, err
	}
	return judge.two, served.Since(c, healed, nil)
}

// byzantineJudge judges what a lying home costs the others.
type byzantineJudge struct {
	who   func() int
	bound time.Duration
	// since is when the lies began.
	since policy.Time
	// running are the members that run, waits is since when each member waits.
	running map[int]bool
	waits   map[int]policy.Time
	// two is true once two of the others ran at once.
	two bool
}

func (s *ByzantineScenario) judge(l *byzantine) *byzantineJudge {
	return &byzantineJudge{
		who: func() int { return l.who }, bound: s.withheld(), since: policy.Never, running: map[int]bool{},
		waits: map[int]policy.Time{},
	}
}

// withheld is how long a caller may wait while a home lies.
func (s *ByzantineScenario) withheld() time.Duration {
	p := call.Patience(s.Scenario.Skip)
	return 40*p + time.Duration(2*s.Scenario.Members+2)*(s.Scenario.Hook.Longest()+p)
}

// Watch implements [sim.Watcher].
func (k *byzantineJudge) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if o.EndsRun() {
		delete(k.running, o.Member)
	}
	if o.Ends() || o.On(policy.Unwanted) {
		delete(k.waits, o.Member)
	}
	if _, waits := k.waits[o.Member]; o.On(policy.Wanted) && !waits {
		k.waits[o.Member] = o.At
	}
	if !o.Does(policy.Run) {
		return nil
	}
	k.running[o.Member] = true
	k.two = k.two || len(k.running) > 1 && !k.running[k.who()]
	since, waits := k.waits[o.Member]
	delete(k.waits, o.Member)
	if o.At < k.since || o.Member == k.who() || !waits {
		return nil
	}
	waited := o.At.Sub(since)
	switch {
	case waited > k.bound:
		return fmt.Errorf("withheld: a home lies, and %s has waited for %v", o.Who(), waited)
	case len(k.running) > 2:
		return fmt.Errorf("overlap: a home lies, and %d run at once", len(k.running))
	}
	return nil
}

// end judges the waits that are not over when the lies end.
func (k *byzantineJudge) end(now policy.Time) error {
	for member, since := range k.waits {
		if waited := now.Sub(max(since, k.since)); member != k.who() && waited > k.bound {
			return fmt.Errorf("withheld: a home lies, and %s waits for %v", sim.MemberName(member), waited)
		}
	}
	return nil
}

// proof returns checkers of the rules that hold even with a home that lies.
func (s *ByzantineScenario) proof() []sim.Watcher {
	return []sim.Watcher{
		check.NewWakeChecker(), check.NewMessageChecker(), check.NewCustodyChecker(),
		check.NewSeqChecker(), check.NewGrantChecker(s.Scenario.settings().SaveWithin()),
		check.NewTrafficChecker(100+40*s.Scenario.Members, s.Scenario.leastPatience()),
	}
}

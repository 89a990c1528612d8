package wander

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// Byzantine is one member that lies until its key is revoked. It has a real key and is in the gate. It hears everything
// that members send, because it has the fleet's secret. Between its lies its machine takes part like any other.
type Byzantine struct {
	// Every is the mean time between two lies.
	Every time.Duration
	// Habits are the kinds of lies that it tells.
	Habits Habits
	// SwallowFor is the mean time for which a Byzantine member with the habit Swallows keeps what it was given.
	SwallowFor time.Duration
}

// Habits is a set of kinds of lies.
type Habits uint16

const (
	// Slanders: it claims that there is a copy of the token with another number.
	Slanders Habits = 1 << iota
	// Claims: it sends heartbeats as if it held the token.
	Claims
	// Dismisses: it claims that nobody holds the token, or that it was removed.
	Dismisses
	// Reassures: it answers the questions of others, even those that it was not asked.
	Reassures
	// Asks: it asks for the token, and names a number.
	Asks
	// Invents: it also sends messages about tokens that do not exist.
	Invents
	// Replays: it replays what others have sent to each other.
	Replays
	// Swallows: it stands still for a while, even when it holds a token.
	Swallows
	// Offers: it offers tokens, and passes them on once: tokens that it held, tokens of others, and tokens that do not
	// exist.
	Offers
	// Objects: it objects to the runs of others. This habit is drawn apart, and only where members ask before they run.
	Objects

	habitsEnd = Objects
)

// BoundedUnasked are the habits that can cost the others no more than two operations at once, for a lap in all, even if
// members do not ask before they run. Lies about a token make members discard and miss it, but none makes another token
// while a member answers that it holds one. Members that believe in different tokens that were made up ask all the
// same: a holder answers whatever token the question names, and the member that asks about an older one goes first.
// Offers is not among them: members believe a token that is passed on, even one that was made up, and it is one token
// more until it meets the older one. If members ask before they run, such a token causes no additional run.
const BoundedUnasked = habitsEnd - 1 - Offers

// habits is the number of habits.
const habits = 9

// String lists the habits.
func (h Habits) String() string {
	names := []string{
		"slanders", "claims", "dismisses", "reassures", "asks", "invents", "replays", "swallows", "offers", "objects",
	}
	var has []string
	for i, name := range names {
		if h&(1<<i) != 0 {
			has = append(has, name)
		}
	}
	return strings.Join(has, " ")
}

// byzantine is a Byzantine member at work.
type byzantine struct {
	Byzantine
	c          *sim.Cluster
	dice       *rand.Rand
	who        int
	over       bool
	descriptor policy.Descriptor
	// heard are the last messages of others about tokens. said is how many there were. offered are the member's own
	// offers.
	heard   [64]wire.Message
	said    int
	offered map[wire.Exchange]bool
	// madeUp is called for each token that the member passes on and does not hold.
	madeUp func(wire.Exchange)
}

// corrupt makes a member Byzantine.
func (l Byzantine) corrupt(c *sim.Cluster, seed uint64, madeUp func(wire.Exchange)) *byzantine {
	dice := rand.New(rand.NewPCG(seed, sim.Mix(31)))
	return &byzantine{
		Byzantine: l, c: c, dice: dice, who: dice.IntN(c.Members()), descriptor: wander.Descriptor(),
		offered: map[wire.Exchange]bool{}, madeUp: madeUp,
	}
}

// begin makes the member lie from now on.
func (l *byzantine) begin() {
	l.c.Intercept(l.overhear)
	l.next()
}

// revoke revokes the member's key: the others hear it no more, and it leaves their views.
func (l *byzantine) revoke() {
	l.over = true
	l.c.Intercept(nil)
	l.c.PowerCut(l.who)
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

// overhear is called for every message that is sent.
func (l *byzantine) overhear(m *wire.Message) sim.Fate {
	mine := sim.IndexOf(m.To) == l.who
	switch {
	case sim.IndexOf(m.From) == l.who:
		return sim.Fate{}
	case m.Kind == handoff.KindAck && mine && l.offered[m.Exchange]:
		delete(l.offered, m.Exchange)
		l.madeUp(m.Exchange)
		commit := handoff.Reply(m, handoff.KindCommit, m.Nonce)
		l.say(&commit)
	case l.Habits&Objects != 0 && m.Kind == wander.KindIntent && mine:
		l.object(m)
	case l.Habits&Reassures != 0 && (m.Kind == guardian.KindAsk || m.Kind == wander.KindInquiry) && l.said > 0:
		l.reassure(m)
	}
	if m.Token.IsWhole() {
		l.heard[l.said%len(l.heard)] = *m
		l.said++
	}
	return sim.Fate{}
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

// any draws one of the last n messages that the member has heard.
func (l *byzantine) any(n int) wire.Message {
	return l.heard[(l.said-1-l.dice.IntN(min(n, l.said, len(l.heard))))%len(l.heard)]
}

// lie tells one lie, to one member or to all.
func (l *byzantine) lie() {
	if l.said == 0 {
		return
	}
	habit := l.draw()
	switch {
	case habit == Swallows:
		l.c.Pause(l.who, time.Duration(l.dice.ExpFloat64()*float64(l.SwallowFor)))
		return
	case habit == Replays:
		l.c.Inject(l.any(len(l.heard)))
		return
	case habit == 0:
		return
	}
	lie := l.any(8)
	lie.Exchange, lie.Nonce, lie.From = 0, 0, l.c.ID(l.who)
	if l.Habits&Invents != 0 && l.dice.IntN(3) == 0 {
		l.invent(&lie)
	}
	lie.Token.Seq = l.number(lie.Token.Seq)
	to := []int{l.dice.IntN(l.c.Members())}
	if l.dice.IntN(2) == 0 {
		to = l.dice.Perm(l.c.Members())
	}
	if habit == Offers {
		to = to[:1]
	}
	for _, i := range to {
		l.tell(habit, lie, i)
	}
}

// draw draws one of the member's habits.
func (l *byzantine) draw() Habits {
	for range 64 {
		if h := Habits(1) << l.dice.IntN(habits); l.Habits&h != 0 && h != Invents && h != Reassures {
			return h
		}
	}
	return 0
}

// tell tells a lie about a token to a member.
func (l *byzantine) tell(habit Habits, lie wire.Message, to int) {
	lie.To = l.c.ID(to)
	if l.dice.IntN(2) == 0 {
		var trail guardian.Trail
		trail.Add(lie.To)
		trail.Add(l.c.ID(l.dice.IntN(l.c.Members())))
		guardian.SetTrail(&lie.Load, &trail)
	}
	switch {
	case habit == Slanders:
		lie.Kind = []wire.Kind{guardian.KindKnown, guardian.KindKnown, guardian.KindHeard}[l.dice.IntN(3)]
	case habit == Claims:
		lie.Kind, lie.Nonce = guardian.KindHeartbeat, wire.Nonce(l.dice.Uint64()>>l.dice.IntN(64)|1)
	case habit == Dismisses:
		lie.Kind = []wire.Kind{guardian.KindYield, guardian.KindTombstone}[l.dice.IntN(2)]
	case habit == Asks:
		lie.Kind, lie.Exchange = guardian.KindAsk, wire.Exchange(l.dice.Uint64()|1)
	case habit == Offers:
		lie.Kind, lie.Exchange = handoff.KindToken, wire.Exchange(l.dice.Uint64()|1)
		l.offered[lie.Exchange] = true
	}
	if lie.Kind == guardian.KindHeard {
		lie.Exchange, lie.Nonce = wire.Exchange(l.dice.Uint64()|1), wire.Nonce(l.dice.Uint64()>>20|1)
	}
	l.say(&lie)
}

// reassure answers a question to any member: all is well, or there is news.
func (l *byzantine) reassure(question *wire.Message) {
	answer := l.any(8)
	if question.Kind == guardian.KindAsk {
		answer = *question
	}
	answer.From, answer.To, answer.Exchange = l.c.ID(l.who), question.From, question.Exchange
	answer.Token.Seq = l.number(answer.Token.Seq)
	switch {
	case question.Kind == wander.KindInquiry && l.dice.IntN(4) == 0:
		// The member has seen no token, and sends the asker to another member.
		last := wander.LastSlotOf(&question.Load)
		answer.Kind, answer.Token, answer.Nonce, answer.Load = wander.KindUnseen, question.Token,
			wire.Nonce(1+l.dice.Uint64()>>34), wire.Load{}
		wander.SetLastSlot(&answer.Load, last)
		guardian.SetTrail(&answer.Load, &guardian.Trail{l.c.ID(l.dice.IntN(l.c.Members()))})
	case question.Kind == wander.KindInquiry:
		answer.Kind, answer.Nonce = wander.KindSeen, wire.Nonce(1+l.dice.Uint64()>>34)
	case l.dice.IntN(2) == 0:
		answer.Kind, answer.Nonce = guardian.KindHeard, wire.Nonce(1+l.dice.Uint64()>>34)
	default:
		answer.Kind, answer.Nonce = guardian.KindKnown, 0
	}
	l.say(&answer)
}

// object objects to a run: the member claims that it runs itself, or that it is about to and goes first.
func (l *byzantine) object(intent *wire.Message) {
	lie := *intent
	lie.Kind, lie.From, lie.To = wander.KindObjection, intent.To, intent.From
	if l.dice.IntN(2) == 0 {
		lie.Kind, lie.Exchange = wander.KindIntent, wire.Exchange(l.dice.Uint64()|1)
		lie.Token.ID.Birth /= 2
	}
	l.say(&lie)
}

// invent makes the token in m one that does not exist, older or younger than that one.
func (l *byzantine) invent(m *wire.Message) {
	off := int64(l.dice.ExpFloat64() * float64(time.Hour))
	if l.dice.IntN(2) == 0 {
		off = -off
	}
	m.Token.ID = wire.TokenID{Birth: max(m.Token.ID.Birth+off, 0), Generator: m.From, Random: l.dice.Uint64()}
}

// number draws a number: the token's, one nearby, one that only a revival can have, or the highest that members
// believe.
func (l *byzantine) number(n wire.Seq) wire.Seq {
	switch l.dice.IntN(6) {
	case 0:
		return n
	case 1:
		return n.After()
	case 2:
		return n + wire.Seq(l.dice.IntN(100))
	case 3:
		return max(n, 2) - 1
	case 4:
		return n.Revived(uint8(l.dice.Uint64()))
	}
	return wire.LatestSeq(l.c.Instant(l.who).Wall) - wire.Seq(l.dice.IntN(3))
}

// ByzantineScenario is a fleet of which one member lies. Nothing else goes wrong in it.
type ByzantineScenario struct {
	Scenario  Scenario
	Byzantine Byzantine
}

// DrawByzantine returns the scenario of a seed.
func DrawByzantine(seed uint64) ByzantineScenario {
	d := drawing{sim.NewDice(seed, 30)}
	s := Scenario{
		Seed: seed, Members: 5 + d.IntN(16), Skip: d.Time(50*time.Millisecond, time.Second), TokenInPlace: true,
	}
	s.Op = d.Time(s.Skip, 5*time.Second)
	s.MinInterval = max(s.Op, time.Duration(float64(s.Members)*float64(s.Op)/d.Share(0.3, 1.5)))
	s.Network = sim.Network{Latency: d.Time(100*time.Microsecond, s.Skip/10), Encode: true}
	if d.Sometimes(0.5) {
		s.Network.Jitter = d.Time(s.Network.Latency/10, 2*s.Network.Latency)
	}
	s.Membership = sim.Membership{
		GossipAfter: d.Time(time.Millisecond, time.Second), DetectAfter: d.Time(time.Second, 5*time.Second),
	}
	s.Hook = sim.Hook{Takes: s.Op, Spread: d.Share(0.05, 0.5)}
	walks := wander.Walks()
	s.Walk, s.Backups = walks[d.IntN(len(walks))], 1+d.IntN(guardian.MaxBackups)
	if d.Sometimes(0.5) {
		s.OnLost = soft.Stop
	}
	s.AskFirst = d.Sometimes(0.5)
	s.Duration = time.Duration(d.Share(2, 8) * float64(s.lap()))
	l := d.byzantine(&s)
	// Later additions have a source of random numbers of their own, so that older draws stay as they were.
	more := drawing{sim.NewDice(seed, 67)}
	if s.AskBeforeRun = l.Habits&Offers != 0 || more.Sometimes(0.2); s.AskBeforeRun && more.Sometimes(0.4) {
		l.Habits |= Objects
	}
	return ByzantineScenario{Scenario: s, Byzantine: l}
}

// byzantine draws a Byzantine member with one habit, or several.
func (d drawing) byzantine(s *Scenario) Byzantine {
	l := Byzantine{
		Every: d.Time(20*time.Millisecond, s.lap()), Habits: 1 << d.IntN(habits), SwallowFor: d.Time(s.Skip, s.lap()),
	}
	if d.Sometimes(0.5) {
		l.Habits |= Habits(d.IntN(int(habitsEnd)))
	}
	if l.Habits == Invents {
		l.Habits |= Slanders | Claims | Offers
	}
	return l
}

// String returns one line for each parameter that is not zero.
func (s *ByzantineScenario) String() string {
	return s.Scenario.String() + fmt.Sprintf("  %-28s %v\n  %-28s %v\n  %-28s %v\n",
		"Byzantine.Every", s.Byzantine.Every, "Byzantine.Habits", s.Byzantine.Habits, "Byzantine.SwallowFor",
		s.Byzantine.SwallowFor)
}

// Explore lets the member lie for a while, and then revokes its key. From then on the fleet must come back to one token
// under which every member runs. When that token is lost, the fleet must come back once more: no number or stamp from a
// lie may prevent this.
func (s *ByzantineScenario) Explore(watchers ...sim.Watcher) Outcome {
	return s.ExploreWith(NewByzantineChecker(s), watchers...)
}

// ExploreWith is Explore with a checker that the caller can ask afterwards.
func (s *ByzantineScenario) ExploreWith(judge *ByzantineChecker, watchers ...sim.Watcher) Outcome {
	progress := NewProgress(&s.Scenario)
	all := append(byzantineProof(&s.Scenario), judge, progress)
	c := s.Scenario.NewCluster(append(all, watchers...)...)
	l := s.Byzantine.corrupt(c, s.Scenario.Seed, progress.slots[0].copies.MadeUp)
	judge.byzantine = l.who
	s.Scenario.start(c)
	l.begin()
	err := c.Run(policy.Time(s.Scenario.Duration))
	if err == nil {
		l.revoke()
		err = s.Scenario.recover(c, progress, c.Now().Add(s.Scenario.bound(c)))
	}
	if err == nil {
		lost := false
		c.LoseNext(func() { lost = true; progress.begin() })
		until := c.Now().Add(2 * s.Scenario.bound(c))
		for err == nil && !lost && c.Now() < until {
			err = c.Run(c.Now().Add(s.Scenario.Skip))
		}
		if err == nil {
			err = s.Scenario.recover(c, progress, until)
		}
	}
	return Outcome{Steps: c.Steps(), Err: err, At: c.Now()}
}

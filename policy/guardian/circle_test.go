package guardian_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

const (
	patience = 800 * time.Millisecond
	// latency is how long a message takes.
	latency = time.Millisecond
	// soak is how long a host soaks.
	soak = 10 * time.Minute
	gate = wire.GateID(7)
)

var (
	annsID = wire.MemberID{0xa}
	bobsID = wire.MemberID{0xb}
	cydsID = wire.MemberID{0xc}
	dansID = wire.MemberID{0xd}

	// theToken is guarded by bob with rank 0, and cyd with rank 1.
	theToken = born(10, 5, bobsID, cydsID)
)

// born returns a token with this birth stamp.
func born(stamp int64, seq wire.Seq, guardians ...wire.MemberID) guardian.Token {
	t := guardian.Token{
		Ref: wire.Ref{ID: wire.TokenID{Birth: stamp, Generator: wire.MemberID{0xe}, Random: 99}, Seq: seq},
	}
	var trail guardian.Trail
	copy(trail[:], guardians)
	t.SetTrail(&trail)
	return t
}

// since returns t with another number.
func since(t guardian.Token, seq wire.Seq) guardian.Token {
	t.Seq = seq
	return t
}

// member is a machine and its owner, which holds the token, discards it when it is overtaken, and takes it when it is
// revived.
type member struct {
	name  string
	id    wire.MemberID
	g     guardian.Machine
	holds bool
	token guardian.Token
	// A dead member hears nothing and does nothing. Events of a member that is away happen when it is back.
	dead, away bool
	notes      []policy.Note
	endings    []guardian.Ending
	// heardAt is when it last heard of a token from its holder; revived are the tokens that it has revived and not
	// heard of since.
	heardAt map[wire.TokenID]policy.Time
	revived map[wire.TokenID]bool
}

func newMember(name string, id wire.MemberID, seed uint64) *member {
	return &member{
		name: name, id: id, heardAt: map[wire.TokenID]policy.Time{}, revived: map[wire.TokenID]bool{},
		g: guardian.New(guardian.Config{
			Gate: gate, Self: id, Patience: patience, Soak: soak, Entropy: rand.NewPCG(seed, seed),
		}),
	}
}

func (m *member) held() *guardian.Token {
	if !m.holds {
		return nil
	}
	return &m.token
}

// circle is four members, one clock and a network in which a message takes a millisecond, or is lost. After every step
// it checks: no wake-up is in the past; an unexpected message changes nothing; a message causes at most one message to
// its sender, and none to all others; and no token is revived within a patience of having heard its holder, unless that
// holder has yielded it, nor twice without news of it in between.
type circle struct {
	t                  rapid.TB
	now                policy.Time
	ann, bob, cyd, dan *member
	all                []*member
	air                []flight
	// lose decides which messages are lost; nil means none.
	lose func(m *wire.Message) bool
	// sent are all messages since the last wantSent, with the time since the beginning.
	sent []string
}

type flight struct {
	at  policy.Time
	msg wire.Message
}

const began = policy.Time(time.Hour)

// newCircle returns ann, who holds the token, bob and cyd, who are its guardians and have heard ann's first heartbeat,
// and dan.
func newCircle(t *testing.T) *circle {
	t.Helper()
	c := newUnaware(t)
	c.hold(c.ann, theToken)
	c.advance(latency)
	c.sent = nil
	return c
}

// newUnaware returns four members that have never heard of a token.
func newUnaware(t rapid.TB) *circle {
	c := &circle{
		t: t, now: began,
		ann: newMember("ann", annsID, 1), bob: newMember("bob", bobsID, 2),
		cyd: newMember("cyd", cydsID, 3), dan: newMember("dan", dansID, 4),
	}
	c.all = []*member{c.ann, c.bob, c.cyd, c.dan}
	return c
}

func (c *circle) find(id wire.MemberID) *member {
	i := slices.IndexFunc(c.all, func(m *member) bool { return m.id == id })
	return c.all[i]
}

// took carries out the result of a call of m's machine, and acts as its owner. It returns the number of messages, and
// of those to a certain member.
func (c *circle) took(m *member, to wire.MemberID, o guardian.Outcome, out []policy.Effect) (all, back int) {
	c.t.Helper()
	for i := range out {
		switch e := &out[i]; e.Kind {
		case policy.Send:
			all++
			if e.Msg.To == to {
				back++
			}
			c.send(&e.Msg)
		case policy.Tell:
			m.notes = append(m.notes, e.Note)
		case policy.Save, policy.Run, policy.Extend, policy.Stop, policy.PreSign, policy.Took, policy.Gave,
			policy.Announce, policy.Proclaim, policy.Gone:
			c.t.Fatalf("a guardian has no business with %v", e.Kind)
		}
	}
	c.end(m, o)
	return all, back
}

func (c *circle) end(m *member, o guardian.Outcome) {
	c.t.Helper()
	if o.Ending == guardian.Pending {
		return
	}
	m.endings = append(m.endings, o.Ending)
	switch o.Ending {
	case guardian.Pending:
	case guardian.Revived:
		c.checkRevival(m, o.Token.ID)
		o.Token.Seq = o.Token.Seq.Revived(uint8(len(m.endings)))
		c.hold(m, o.Token)
	case guardian.Overtaken:
		m.holds = false
		c.took(m, wire.MemberID{}, guardian.Outcome{}, m.g.Correct(&m.token, &o.Token, nil))
	case guardian.Sure, guardian.Answered:
		c.hold(m, m.token)
	}
}

func (c *circle) checkRevival(m *member, id wire.TokenID) {
	c.t.Helper()
	if at, ok := m.heardAt[id]; ok && c.now.Sub(at) < patience {
		c.t.Fatalf("%s revives a token whose holder it heard %v ago", m.name, c.now.Sub(at))
	}
	if m.revived[id] {
		c.t.Fatalf("%s revives a token for the second time, and has had no word of it since the first", m.name)
	}
	m.revived[id] = true
}

func (c *circle) send(m *wire.Message) {
	c.t.Helper()
	if got, ok := wire.Parse(m.Append(nil)); !ok || got != *m {
		c.t.Fatalf("a datagram cannot carry %+v", *m)
	}
	c.sent = append(c.sent, fmt.Sprintf("%v %s→%s %v", c.now.Sub(began), c.find(m.From).name, c.find(m.To).name,
		nameOf(m.Kind)))
	if c.lose == nil || !c.lose(m) {
		c.air = append(c.air, flight{c.now.Add(latency), *m})
	}
}

// hold gives m a token.
func (c *circle) hold(m *member, t guardian.Token) {
	c.t.Helper()
	m.holds, m.token = true, t
	m.g.Took(c.now, &m.token)
	c.took(m, wire.MemberID{}, guardian.Outcome{}, m.g.Hold(c.now, &m.token, nil))
}

// giveUp makes a holder the token's first guardian, as after its Commit.
func (c *circle) giveUp(from *member, to wire.MemberID) guardian.Token {
	c.t.Helper()
	from.g.See(c.now, &from.token)
	before, passed := from.token.Trail(), from.token
	after := before.Behind(from.id, to, 2)
	passed.SetTrail(&after)
	from.holds = false
	from.heardAt[passed.ID], from.revived[passed.ID] = c.now, false
	c.took(from, wire.MemberID{}, guardian.Outcome{}, from.g.Passed(c.now, before, &passed, to, nil))
	return passed
}

// pass passes the token on and raises its number.
func (c *circle) pass(from, to *member) {
	c.t.Helper()
	passed := c.giveUp(from, to.id)
	c.hold(to, since(passed, passed.Seq.After()))
}

// before acts as an owner before every step: a holder that was away for too long asks first.
func (c *circle) before(m *member) {
	c.t.Helper()
	if m.g.Overdue(c.now, m.held()) {
		c.took(m, wire.MemberID{}, guardian.Outcome{}, m.g.Doubt(c.now, m.held(), nil))
	}
}

// receive delivers msg to its addressee and returns how many messages that caused.
func (c *circle) receive(msg wire.Message) (sent int) {
	c.t.Helper()
	m := c.find(msg.To)
	m.g.See(c.now, m.held())
	expected, before := m.g.Expects(&msg, m.held()), m.g
	if expected {
		c.before(m)
	}
	if expected && msg.Kind == guardian.KindYield {
		delete(m.heardAt, msg.Token.ID)
		m.revived[msg.Token.ID] = false
	}
	var o guardian.Outcome
	out := m.g.Receive(c.now, &msg, m.held(), &o, nil)
	if !expected && (m.g != before || o != guardian.Outcome{} || len(out) != 1 ||
		out[0].Note != guardian.NoteStrayWord) {
		c.t.Fatalf("%s did not expect a %s, and it led to %+v", m.name, nameOf(msg.Kind), out)
	}
	holding := m.held() != nil && m.token.ID == msg.Token.ID
	sent, back := c.took(m, msg.From, o, out)
	if back > 1 || sent > 1 {
		c.t.Fatalf("%s sends %d messages to the sender of one %s, and %d in all", m.name, back, nameOf(msg.Kind), sent)
	}
	if expected {
		m.revived[msg.Token.ID] = false
	}
	if msg.Kind == guardian.KindHeartbeat && expected && sent == 0 && !holding {
		m.heardAt[msg.Token.ID] = c.now
	}
	return sent
}

// wake wakes m, due or not.
func (c *circle) wake(m *member) {
	c.t.Helper()
	m.g.See(c.now, m.held())
	c.before(m)
	var o guardian.Outcome
	out := m.g.Wake(c.now, m.held(), &o, nil)
	c.took(m, wire.MemberID{}, o, out)
	if at, ok := m.g.NextWake(m.held()); ok && at <= c.now {
		c.t.Fatalf("%s was woken at %v and asks for %v", m.name, c.now, at)
	}
}

// advance lets time pass with all due events, including those at its end.
func (c *circle) advance(d time.Duration) {
	c.t.Helper()
	for end := c.now.Add(d); ; {
		next, first, waking := end+1, -1, (*member)(nil)
		for _, m := range c.all {
			if at, ok := m.g.NextWake(m.held()); ok && at < next && !m.dead && !m.away {
				next, waking = at, m
			}
		}
		for i, f := range c.air {
			if f.at <= next && f.at <= end && !c.find(f.msg.To).away && (first < 0 || f.at < c.air[first].at) {
				first = i
			}
		}
		switch {
		case first >= 0:
			f := c.air[first]
			c.air = slices.Delete(c.air, first, first+1)
			c.now = max(c.now, f.at)
			if !c.find(f.msg.To).dead {
				c.receive(f.msg)
			}
		case waking != nil:
			c.now = max(c.now, next)
			c.wake(waking)
		default:
			c.now = end
			return
		}
	}
}

// until lets time pass up to this time since the beginning.
func (c *circle) until(d time.Duration) {
	c.t.Helper()
	c.advance(began.Add(d).Sub(c.now))
}

// message returns a message made by the test.
func message(kind wire.Kind, from, to *member, about guardian.Token) wire.Message {
	m := wire.Message{Gate: gate, Kind: kind, From: from.id, To: to.id, Token: about.Ref, Load: about.Load}
	switch kind {
	case guardian.KindHeartbeat:
		m.Nonce = 1
	case guardian.KindHeard:
		m.Exchange, m.Nonce = 77, wire.Nonce(time.Hour)
	case guardian.KindAsk:
		m.Exchange = 77
	}
	return m
}

// answering returns m as an answer to the question in flight to m's sender.
func (c *circle) answering(m wire.Message) wire.Message {
	c.t.Helper()
	for _, f := range c.air {
		if f.msg.Kind == guardian.KindAsk && f.msg.To == m.From && f.msg.From == m.To {
			m.Exchange = f.msg.Exchange
			return m
		}
	}
	c.t.Fatalf("%v was not asked", m.From)
	return m
}

// wantSent wants exactly these messages since the last call, as "250ms ann→bob Beat", with the time since the
// beginning.
func (c *circle) wantSent(want ...string) {
	c.t.Helper()
	if !slices.Equal(c.sent, want) {
		c.t.Fatalf("sent were\n\t%s\nwant\n\t%s", strings.Join(c.sent, "\n\t"), strings.Join(want, "\n\t"))
	}
	c.sent = nil
}

// wantNotes wants exactly these notes of m since the last call.
func (c *circle) wantNotes(m *member, want ...policy.Note) {
	c.t.Helper()
	if !slices.Equal(m.notes, want) {
		c.t.Fatalf("%s notes %v, want %v", m.name, guardian.Notes().Names(m.notes), guardian.Notes().Names(want))
	}
	m.notes = nil
}

// wantEndings wants exactly these endings of m since the last call.
func (c *circle) wantEndings(m *member, want ...guardian.Ending) {
	c.t.Helper()
	if !slices.Equal(m.endings, want) {
		c.t.Fatalf("%s has the endings %v, want %v", m.name, m.endings, want)
	}
	m.endings = nil
}

// wantHolders wants exactly these live members to hold a token.
func (c *circle) wantHolders(want ...*member) {
	c.t.Helper()
	var got []string
	for _, m := range c.all {
		if m.holds != slices.Contains(want, m) && !m.dead {
			got = append(got, fmt.Sprintf("%s: %v", m.name, m.holds))
		}
	}
	if len(got) > 0 {
		c.t.Fatalf("who holds a token: %s", strings.Join(got, ", "))
	}
}

func nameOf(kind wire.Kind) string { return guardian.Kinds().Of(kind).Name }

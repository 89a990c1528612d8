package call

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// birth is what a member knows before it makes a token.
//
// R15 Certain loss. "The first home makes a new token at once if, in one pass of R11, every member of its view answered
// that since the question began it neither held nor guarded the token, nor had acknowledged an offer, nor runs; and its
// view is more than half of it plus those that failed within max_interval." The first token of a fleet is made in the
// same way, when no member has come into the view for a while.
//
// In a gate with kept grants a loss is never certain: a host that is away may come back.
//
// If not all answer, the first home makes a token after max_interval: "generating a new token when a component does not
// receive one within a timeout" (Ciuffoletti, section 5). A first home that nobody hears makes one, too, and it is of
// no use to the others: so the second one makes another after twice that time, if it has looked for a token all the
// while, and the third one after three times.
type birth struct {
	// touched is true if a token has been here, in custody, guarded or acknowledged, or if this member has run;
	// touchedAt is when it was last.
	touched bool
	// hasMet is true once this member has met a token; company, once it has seen another member, or its host others
	// that do not have this gate.
	hasMet, company bool
	touchedAt       policy.Time
	// grewAt is when the view changed last, unless members only left it. last is how many members it has, most is how
	// many members it had within max_interval, and shrunkAt when it began to have fewer.
	grewAt, shrunkAt policy.Time
	last, most       int
	// aloneAt is when a member that has come back with a kept grant, and sees nobody, is alone.
	aloneAt policy.Time
}

// settles is how long a view must not have changed before a first token is made, in patiences.
const settles = 3

// see takes a new view. company is true if the host sees others that do not have this gate.
func (b *birth) see(cfg *Config, now policy.Time, v *view, company bool) {
	n := v.Count()
	b.company = b.company || n > 1 || company
	if n >= b.last {
		b.grewAt = now // A fleet that has only lost members does not come together.
	}
	b.last = n
	b.forget(cfg, now, n)
	switch {
	case n >= b.most:
		b.most, b.shrunkAt = n, policy.Never
	case b.shrunkAt == policy.Never:
		b.shrunkAt = now
	}
}

// forget forgets members that failed long ago.
func (b *birth) forget(cfg *Config, now policy.Time, n int) {
	if n < b.most && b.shrunkAt != policy.Never && now >= b.shrunkAt.Add(cfg.maxInterval()) {
		b.most, b.shrunkAt = n, policy.Never
	}
}

// touch notes that a token is here.
func (b *birth) touch(now policy.Time) { b.touched, b.touchedAt = true, now }

// met notes that there is a token.
func (b *birth) met(now policy.Time) {
	b.hasMet = true
	b.touch(now)
}

// maxInterval is Δmax: the setting, or three times min_interval, and a minute of skips at least.
func (c *Config) maxInterval() time.Duration {
	if c.MaxInterval > 0 {
		return c.MaxInterval
	}
	return max(policy.Times(3, c.MinInterval), policy.Times(60, c.patience()))
}

// waitsAlone reports whether this member waits because it belongs to a fleet and has not seen any other member of it.
func (m *Machine) waitsAlone() bool {
	return (m.cfg.WaitsAlone || m.cfg.Rejoins) && !m.birth.company && !m.birth.hasMet
}

// alone reports whether there is no other member. One that was in a fleet, and has come back with its token, is not
// alone merely because it has just started.
func (m *Machine) alone(now policy.Time) bool {
	return m.view.Alone() && (m.birth.company || now >= m.birth.aloneAt)
}

// mayMake reports whether this member makes a token after it has asked all others.
func (m *Machine) mayMake(now policy.Time) bool {
	b, s, n := &m.birth, &m.search, m.view.Count()
	b.forget(&m.cfg, now, n)
	rank, isHome := m.view.rank(&m.cfg, m.cfg.Self)
	long := now >= s.since.Add(policy.Times(1+rank, m.cfg.maxInterval())).Add(m.cfg.Keep)
	switch {
	case !isHome || rank > 0 && !long || m.custody.leaving || !m.custody.in(absent) || m.handoff.Receiving():
		return false
	case m.waitsAlone() && (m.cfg.WaitsAlone || !long):
		return false
	case long:
		m.cfg.Marks.Hit(markMakesLate)
		return true
	}
	m.cfg.Marks.Hit(markMayNotMake)
	settled := b.hasMet || !b.company || now >= b.grewAt.Add(policy.Times(settles, m.cfg.patience()))
	lately := b.touched && b.touchedAt >= s.began.Add(-m.cfg.patience())
	return s.clean && !m.mayBeAway() && s.silent == 0 && s.late == nil && settled && !lately && 2*n > b.most
}

// mayBeAway reports whether a host may be away under its grant: it is not the first token of a fleet that is missing. A
// member that has only been told of a token counts, too: those that have met it may be the hosts that are away.
func (m *Machine) mayBeAway() bool {
	told := !m.known.ref.ID.Generator.IsZero()
	return m.cfg.Keep > 0 && (m.birth.hasMet || told || m.cfg.Rejoins)
}

// make makes a new token, held here, and uses it.
func (m *Machine) make(now policy.Instant, renewed bool, out []policy.Effect) []policy.Effect {
	note := NoteCreated
	switch {
	case renewed:
		note = NoteRenewed
	case m.birth.hasMet:
		m.cfg.Marks.Hit(markMadeAgain)
		note = NoteRegenerated
	}
	m.cfg.Marks.Hit(markMade)
	birth, seq := m.numbers.Create(now)
	token := guardian.Token{Ref: wire.Ref{
		ID:  wire.TokenID{Birth: birth, Generator: m.cfg.Self, Random: m.cfg.Entropy.Uint64()},
		Seq: seq, Slot: m.cfg.Slot,
	}}
	m.known.lose()
	out = policy.AppendTell(out, note, wire.MemberID{}, &token.Ref)
	return m.take(now, policy.CauseMade, wire.MemberID{}, &token, false, m.save(out))
}

var _ policy.Renewable = (*Machine)(nil)

// Knows implements [policy.Renewable].
func (m *Machine) Knows(slot int, _ policy.Time) string {
	switch {
	case slot != int(m.cfg.Slot):
		return "has no such token"
	case m.custody.leaving:
		return "leaves the gate"
	case m.waitsAlone():
		return "has not seen any other member yet"
	case m.custody.holds() || m.custody.in(running):
		return "holds the token"
	case m.guards():
		return "keeps a copy of the token, and revives it if its holder is gone"
	case m.handoff.Receiving():
		return "is about to get the token"
	}
	return ""
}

// onRenew makes a new token, unless this member knows of one.
func (m *Machine) onRenew(now policy.Instant, out []policy.Effect) []policy.Effect {
	if !m.custody.in(absent) || m.Knows(int(m.cfg.Slot), now.Time) != "" {
		return out
	}
	m.cfg.Marks.Hit(markRenewed)
	return m.make(now, true, out)
}

// Package guardian prevents the loss of a token with its holder. Any token protocol can use its machine.
//
// Ciuffoletti leaves "a better reaction to token loss" open (section 7): his members detect a loss by a silence of
// Δmax. Here the last holders are guardians: they keep a copy, as in the k-copies algorithm of Arantes and Sopena for
// rings, and the holder sends them heartbeats:
//
//	holder                     guardian of rank 0         of rank 1
//	  ── Beat ───────────────────▶                            four in a patience, to each guardian
//	  ── Beat ─────────────────────────────────────────────▶
//	  ✗                          a patience of silence
//	    ◀──────────────── Ask ──  ── Ask ──────────────────▶  which member holds it?
//	                             ◀─────────────── Heard ────  no heartbeat for a patience
//	                             half a patience: no holder
//	                             revives the token
//	                              ── Beat ─────────────────▶  and is its holder
//
// A soft gate may suspect a live holder: then a second copy of the token exists for a while. Copies differ in Seq: a
// revival raises it above every number that the lost copy can have reached. Every member keeps only the higher copy. To
// make second copies rare, a guardian asks all members before it revives, a higher rank waits longer, and a guardian
// that hears the holder answers so. If the holder itself has announced that it no longer holds the token (Yield), the
// first guardian revives it at once, but only if this guardian passed the token to the holder. A holder that was away
// for longer than a patience asks its guardians before it does anything with the token. A removed token has a
// tombstone: its guardians are told of it, and tell others. Otherwise they would revive every removed token.
//
// The package never chooses a guardian, reads only the trail of a load and what is left of a soak, and does not decide
// what its owner does with the token. Files: holder.go (heartbeats, doubt), watch.go (a guardian's knowledge,
// suspicion, revival), question.go (questions and their results), answer.go (answers), yield.go (a holder that gives up
// its token), keep.go (grants that outlive their hosts), soak.go (what is left of a soak), tombstone.go.
//
// Its decisions, in docs/decisions: 043, 044, 045, 046, 047, 048, 049, 100, 102.
package guardian

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/marks"
	"github.com/wanderd/wanderd/wire"
)

// Intervals as parts of a patience. A holder sends four heartbeats in a patience. A question lasts for half of one. It
// is repeated after an eighth of a patience, and then each time after an eighth of its duration, but at least twice in
// a patience, because a holder that asks sends no heartbeats. Where three in ten datagrams are lost, three questions
// reach no member once in some hundred times, and a holder that runs for long is suspected again and again.
const (
	heartbeatsPerPatience = 4
	questionsPerPatience  = 2
	firstRepeat           = 8
	repeats               = 8
)

// Config configures the guardians of a gate's tokens.
type Config struct {
	Gate wire.GateID
	Self wire.MemberID
	// Patience is the silence after which a guardian suspects the holder: at least a few round trips.
	Patience time.Duration
	// Keep is how long a kept grant outlives the last word of its holder; zero if no grant does.
	Keep time.Duration
	// Soak is how long a host may soak at most; zero if none does.
	Soak time.Duration
	// Entropy draws the identities of questions.
	Entropy policy.Entropy
	// Marks are told of rare branches; nil if nobody listens.
	Marks *marks.Marker
}

// Machine takes care of the tokens of one gate for one member, as holder and as guardian. It is a plain value.
//
// Its owner holds the token, and passes a pointer to it in every call, or nil if it holds none.
type Machine struct {
	cfg Config
	// roundTrip is the longest time until an answer; zero if it is unknown.
	roundTrip time.Duration

	holding    holding
	keeping    keeping
	watch      watch
	question   question
	tombstones [maxTombstones]tombstone
	// tombstoneNext is the place of the next tombstone, which replaces the oldest.
	tombstoneNext uint8
	closed        bool
	// saving is true while the owner saves.
	saving bool
	// quiet is set if nobody need be heard where nobody waits. awaited is set while this member knows of a member that
	// waits for the token.
	quiet, awaited bool
	// askFrom is the place of the first member to ask in the next question to others: the members before it have not
	// answered.
	askFrom int32
}

// Ending is the kind of result of a call.
type Ending uint8

const (
	// Pending: there is no result for the owner.
	Pending Ending = iota
	// Revived: the holder Peer is lost, and this member holds Token, without Peer and this member in its trail. Its Seq
	// is still the last known one.
	Revived
	// Overtaken: Peer knows of a copy of the held token with a higher Seq: Token. The owner must discard the held one.
	Overtaken
	// Sure: no member knows of another copy than the held one; its holder may continue.
	Sure
	// Answered: a holder that had heard no member got an answer.
	Answered
)

// Outcome is the result of a call. Ending determines which fields are set. A call writes it to the caller's variable,
// and only if there is a result.
type Outcome struct {
	Ending Ending
	Peer   wire.MemberID
	Token  Token
	// Kept is true if the grant of the lost holder was kept: it has stayed away.
	Kept bool
}

// New returns a machine that keeps no copy.
func New(cfg Config) Machine { return Machine{cfg: cfg} }

// Measured sets how long an answer takes in this network. The delay does not change the frequency of heartbeats, but
// the first heartbeat of a new holder comes a round trip after the token was passed, and answers come a round trip
// after the question.
func (g *Machine) Measured(roundTrip time.Duration) { g.roundTrip = roundTrip }

// patience is the silence after which a guardian suspects the holder. questions is how long it then waits for the
// answers to n questions. Both exceed the configuration only if a round trip is longer than half, or a third, of the
// configured patience.
func (g *Machine) patience() time.Duration { return max(g.cfg.Patience, 2*g.roundTrip) }

func (g *Machine) questions(n int) time.Duration {
	return time.Duration(n) * max(g.cfg.Patience, 3*g.roundTrip) / questionsPerPatience
}

// Close makes this member give up its copy, because it is about to leave. It still answers.
func (g *Machine) Close() {
	g.stopAsking()
	g.closed, g.watch.live = true, false // The record of a kept grant stays, for its next life.
}

// Expects reports whether m, which belongs to no handoff, could change anything now.
func (g *Machine) Expects(m *wire.Message, held *Token) bool {
	switch {
	case m.Kind == KindAsk || g.question.waitsFor(m) || g.question.meets(m):
		return true
	case m.Kind == KindKeep || m.Kind == KindKept:
		return g.keepsWord(m, held)
	case held != nil && held.ID == m.Token.ID:
		return g.overtakes(m, held) || m.Kind == KindHeartbeat
	}
	switch m.Kind {
	case KindHeartbeat:
		return g.hears(m) || g.corrects(m) || g.KnowsTombstone(&m.Token)
	case KindKnown:
		return g.watch.isBehind(&m.Token)
	case KindTombstone:
		return g.watch.diesWith(&m.Token) || g.mayBeAsked(m)
	case KindYield:
		return g.yields(m)
	}
	return false
}

// Answers reports whether m is an answer to the open question.
func (g *Machine) Answers(m *wire.Message) bool { return g.question.waitsFor(m) || g.question.meets(m) }

// Receive handles a message between holder and guardians.
func (g *Machine) Receive(now policy.Time, m *wire.Message, held *Token, end *Outcome,
	out []policy.Effect,
) []policy.Effect {
	switch {
	case !g.Expects(m, held):
		return policy.AppendTell(out, NoteStrayWord, m.From, &m.Token)
	case m.Kind == KindKeep || m.Kind == KindKept:
		return g.onKeep(now, m, held, out)
	case held != nil && (held.ID == m.Token.ID || m.Kind == KindAsk && !g.KnowsTombstone(&m.Token)):
		return g.onWordOfHeld(now, m, held, end, out)
	case g.Doubting() && g.question.meets(m): // It holds another token, and hears this member.
		if g.hears(m) {
			g.learnOf(now, m, m.From)
			g.watch.count = m.Nonce
		}
		g.answered(now, m.From, end)
		return out
	}
	switch m.Kind {
	case KindHeartbeat:
		return g.onHeartbeat(now, m, out)
	case KindAsk:
		return g.onAsk(now, m, out)
	case KindHeard, KindKnown:
		g.onAnswer(now, m, end)
	case KindTombstone:
		return g.onTombstone(now, m, end, out)
	case KindYield:
		g.onYield(now, m, end)
	}
	return out
}

// Wake does what is due: it sends heartbeats, repeats a question, suspects, or revives.
func (g *Machine) Wake(now policy.Time, held *Token, end *Outcome, out []policy.Effect) []policy.Effect {
	if g.mustSend(held) && now >= g.holding.heartbeatAt {
		out = g.sendHeartbeats(now, held, out)
	}
	switch {
	case g.question.live:
		return g.wakeQuestion(now, held, end, out)
	case g.suspects() && now >= g.watch.suspectAt:
		return g.suspect(now, out)
	}
	return out
}

// NextWake returns when Wake must be called.
func (g *Machine) NextWake(held *Token) (at policy.Time, ok bool) {
	switch {
	case g.question.live:
		at, ok = min(g.question.repeatAt, g.question.until), true
	case g.suspects():
		at, ok = g.watch.suspectAt, true
	}
	if g.mustSend(held) && (!ok || g.holding.heartbeatAt < at) {
		at, ok = g.holding.heartbeatAt, true
	}
	return at, ok
}

// send appends a message about a token, and returns it.
func (g *Machine) send(kind wire.Kind, to wire.MemberID, about *Token, out []policy.Effect) ([]policy.Effect,
	*wire.Message,
) {
	out, m := policy.AppendMessage(out)
	m.Gate, m.Kind, m.From, m.To, m.Token, m.Load = g.cfg.Gate, kind, g.cfg.Self, to, about.Ref, about.Load
	return out, m
}

// tellGuardians sends a message about a token to all guardians of another copy.
func (g *Machine) tellGuardians(kind wire.Kind, guardians Trail, about *Token, out []policy.Effect) []policy.Effect {
	for _, to := range guardians[:guardians.Len()] {
		if to != g.cfg.Self {
			out, _ = g.send(kind, to, about, out)
		}
	}
	return out
}

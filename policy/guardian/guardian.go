// Package guardian keeps a token from being lost with its holder, as a machine that any token protocol can own.
//
// Ciuffoletti leaves "a better reaction to token loss" open (section 7): his members notice a loss by a silence of Δmax. Here
// the last few holders keep a copy, as in the k-copies algorithm of Arantes and Sopena for rings, and are told that all is
// well while it is:
//
//	holder                     guardian of rank 0         of rank 1
//	  ── Beat ───────────────────▶                            four in a patience, to each guardian
//	  ── Beat ─────────────────────────────────────────────▶
//	  ✗                          patience: nothing heard
//	    ◀──────────────── Ask ──  ── Ask ──────────────────▶  who holds it?
//	                             ◀─────────────── Heard ────  not lately
//	                             half a patience: no holder
//	                             revives the token
//	                              ── Beat ─────────────────▶  and is its holder
//
// A soft gate may suspect wrongly: that costs a second copy of the token for a while. The copies are told apart by Seq, which
// a revival raises past anything the lost copy can have reached, and every member keeps the higher only. To make it rare, a
// guardian asks before it revives; a higher rank waits longer; who hears the holder says so. Only where the holder itself has said
// that it holds the token no longer (Yield), the first guardian revives it at once. A holder that has been away for
// longer than a patience asks its guardians before it does anything with the token. And a token that was removed is buried:
// its guardians are told, and tell others, or they would revive every token that is removed.
//
// The package never chooses a guardian, never looks into a token's route, and has no say in what its owner does with the
// token. Files: holder.go (beats, doubt), watch.go (what a guardian knows, suspicion, revival), question.go (asking and being
// answered), answer.go (answering), yield.go (a holder that says that it is none any more), bury.go.
package guardian

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// The rhythm, as parts of a patience: a holder beats four times in one, and a question lasts for half of one, in which it is
// asked three times: at once, after an eighth, and after three eighths.
const (
	beatsPerPatience     = 4
	questionsPerPatience = 2
	firstRepeat          = 8
)

// Config is what guarding needs to know.
type Config struct {
	Gate wire.GateID
	Self wire.MemberID
	// Patience is how long a guardian hears nothing before it suspects the holder. At least a few round trips.
	Patience time.Duration
	// Entropy draws the identities of questions.
	Entropy policy.Entropy
}

// Machine is one member's part in guarding the tokens of one gate, as holder and as guardian. It is a plain value.
//
// Its owner holds the token. It passes a pointer to it to every call, nil if it holds none.
type Machine struct {
	cfg Config
	// roundTrip is how long an answer takes at most; zero if nobody knows.
	roundTrip time.Duration

	holding  holding
	watch    watch
	question question
	buried   [maxBuried]burial
	// buriedNext is where the next burial is remembered, over the oldest.
	buriedNext uint8
	closed     bool
}

// Ending says what came of a call.
type Ending uint8

const (
	// Pending: nothing that concerns the owner.
	Pending Ending = iota
	// Revived: the holder Peer is lost, and Token, of which Peer and this member are no guardians any more, is this member's.
	// Its Seq is still the last that was known.
	Revived
	// Overtaken: Peer knows of a copy of the held token with a higher Seq: Token. The held one is to be dropped.
	Overtaken
	// Sure: nobody knows of another copy than the one held; its holder may go on.
	Sure
	// Answered: a holder that had heard nobody is heard and hears.
	Answered
)

// Outcome is what a call led to. Peer and Token mean something as Ending says.
type Outcome struct {
	Ending Ending
	Peer   wire.MemberID
	Token  wire.Token
}

// New returns a machine that guards nothing.
func New(cfg Config) Machine { return Machine{cfg: cfg} }

// Measured takes up how long an answer takes in this network. Beats travel one way, and come as often however long that is; but what
// a new holder beats comes a round trip after the token was given to it, and answers come a round trip after the question.
func (g *Machine) Measured(roundTrip time.Duration) { g.roundTrip = roundTrip }

// patience is how long a guardian hears nothing before it suspects the holder, questions how long it then waits for the answers to
// so many questions. Both are longer than configured only where a round trip is longer than half and a third of a patience.
func (g *Machine) patience() time.Duration { return max(g.cfg.Patience, 2*g.roundTrip) }

func (g *Machine) questions(n int) time.Duration {
	return time.Duration(n) * max(g.cfg.Patience, 3*g.roundTrip) / questionsPerPatience
}

// Close ends this member's part as a guardian: it is about to leave. It still answers.
func (g *Machine) Close() {
	g.stopAsking()
	g.closed, g.watch.live = true, false
}

// Expects reports whether m, which belongs to no handoff, could change anything now.
func (g *Machine) Expects(m *wire.Message, held *wire.Token) bool {
	switch {
	case m.Kind == wire.KindAsk || g.question.waitsFor(m):
		return true
	case held != nil && held.ID == m.Token.ID:
		return g.overtakes(m, held) || m.Kind == wire.KindBeat
	}
	switch m.Kind {
	case wire.KindBeat:
		return g.hears(m) || g.corrects(m) || g.knowsBurial(&m.Token)
	case wire.KindKnown:
		return g.watch.isBehind(&m.Token)
	case wire.KindBuried:
		return g.watch.diesWith(&m.Token) || g.mayBeAsked(m)
	case wire.KindYield:
		return g.yields(m)
	case wire.KindToken, wire.KindAck, wire.KindCommit, wire.KindAsk, wire.KindHeard, wire.KindInquiry, wire.KindSeen:
	}
	return false
}

// Answers reports whether m is an answer to the question that is out.
func (g *Machine) Answers(m *wire.Message) bool { return g.question.waitsFor(m) }

// Receive takes a message that belongs to no handoff.
func (g *Machine) Receive(now policy.Time, m *wire.Message, held *wire.Token, out []policy.Effect) (Outcome, []policy.Effect) {
	switch {
	case !g.Expects(m, held):
		return Outcome{}, policy.AppendTell(out, NoteStrayWord, m.From, &m.Token)
	case held != nil && held.ID == m.Token.ID:
		return g.onWordOfHeld(now, m, held, out)
	}
	switch m.Kind {
	case wire.KindBeat:
		return Outcome{}, g.onBeat(now, m, out)
	case wire.KindAsk:
		return Outcome{}, g.onAsk(now, m, out)
	case wire.KindHeard:
		return g.onHeard(now, m), out
	case wire.KindKnown:
		return g.onKnown(now, m), out
	case wire.KindBuried:
		return g.onBuried(now, m, out)
	case wire.KindYield:
		return g.onYield(now, m), out
	case wire.KindToken, wire.KindAck, wire.KindCommit, wire.KindInquiry, wire.KindSeen:
	}
	return Outcome{}, out
}

// Wake does what has become due: beats, repeats a question, suspects, revives.
func (g *Machine) Wake(now policy.Time, held *wire.Token, out []policy.Effect) (Outcome, []policy.Effect) {
	if g.beats(held) && now >= g.holding.beatAt {
		out = g.beat(now, held, out)
	}
	switch {
	case g.question.live:
		return g.wakeQuestion(now, held, out)
	case g.watch.live && now >= g.watch.suspectAt:
		out = g.suspect(now, out)
	}
	return Outcome{}, out
}

// NextWake says when Wake must be called.
func (g *Machine) NextWake(held *wire.Token) (at policy.Time, ok bool) {
	switch {
	case g.question.live:
		at, ok = min(g.question.repeatAt, g.question.until), true
	case g.watch.live:
		at, ok = g.watch.suspectAt, true
	}
	if g.beats(held) && (!ok || g.holding.beatAt < at) {
		at, ok = g.holding.beatAt, true
	}
	return at, ok
}

// message returns a message about a token.
func (g *Machine) message(kind wire.Kind, to wire.MemberID, about *wire.Token) wire.Message {
	return wire.Message{
		Gate: g.cfg.Gate, Kind: kind, From: g.cfg.Self, To: to, Token: *about,
	}
}

// tellGuardians sends a message about one token to all who guard another copy of it.
func (g *Machine) tellGuardians(kind wire.Kind, guardians *wire.Trail, about *wire.Token, out []policy.Effect) []policy.Effect {
	for _, to := range guardians[:guardians.Len()] {
		if to != g.cfg.Self {
			m := g.message(kind, to, about)
			out = policy.AppendSend(out, &m)
		}
	}
	return out
}

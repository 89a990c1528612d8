package tree

import (
	"encoding/binary"
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// The messages of this package, by the paper's names. Over UDP a token goes by the three kinds of package handoff.
const (
	// KindRequest is REQ: its origin asks for the token.
	KindRequest wire.Kind = 64 + iota
	// KindToken is TOKEN, on links that lose nothing.
	KindToken
	// KindCommit is COMMIT: the addressee is its sender's next. It carries the sender's position and the addressee's k
	// predecessors.
	KindCommit
	// KindRefuse answers a useless COMMIT or CONNECTION: the sender of the REFUSE has another predecessor or has left
	// the queue. The paper has no such message.
	KindRefuse
	// KindQuestion and KindAnswer "check the liveness" of a site (line 34).
	KindQuestion
	KindAnswer
	// KindConnection is CONNECTION: the sender asks to become the addressee's next.
	KindConnection
	// KindSearchPos is SEARCH_POS, a broadcast: which site has a smaller position?
	KindSearchPos
	// KindPosition is POSITION, the answer to both searches.
	KindPosition
	// KindSearchQueue is SEARCH_QUEUE, a broadcast: which sites have a position?
	KindSearchQueue
	// KindConsult is CONSULT, a broadcast: whose next am I? KindConsulted answers it. The kinds from KindConsult to
	// KindElected belong to the baseline.
	KindConsult
	KindConsulted
	// KindFailure is FAILURE, a broadcast: which site has the token? KindPresent answers it.
	KindFailure
	KindPresent
	// KindElection is ELECTION, a broadcast: the sender is a candidate to make a token.
	KindElection
	// KindElected is ELECTED, a broadcast: the sender has made one.
	KindElected
	// KindBehind answers a REQ whose number is below a number that the sender of the BEHIND has heard from the same
	// origin: the origin has started again. The paper has no such message, because its sites never come back.
	KindBehind

	kindsEnd
)

// Descriptor describes the tree to shells and simulator.
func Descriptor() policy.Descriptor {
	return policy.Descriptor{
		ID: 3, Name: "tree", Version: 1, WellFormed: wellFormed,
		Kinds: slices.Concat(handoff.Kinds(), kinds()), Notes: slices.Concat(handoff.Notes(), notes()),
	}
}

// kinds returns the kinds of message of this package, by the paper's names.
func kinds() policy.Kinds {
	return policy.Kinds{
		{Kind: KindRequest, Name: "REQ"},
		{Kind: KindToken, Name: "TOKEN", Part: policy.Passes},
		{Kind: KindCommit, Name: "COMMIT"},
		{Kind: KindRefuse, Name: "REFUSE"},
		{Kind: KindQuestion, Name: "QUESTION"},
		{Kind: KindAnswer, Name: "ANSWER"},
		{Kind: KindConnection, Name: "CONNECTION"},
		{Kind: KindSearchPos, Name: "SEARCH_POS"},
		{Kind: KindPosition, Name: "POSITION"},
		{Kind: KindSearchQueue, Name: "SEARCH_QUEUE"},
		{Kind: KindConsult, Name: "CONSULT"},
		{Kind: KindConsulted, Name: "CONSULTED"},
		{Kind: KindFailure, Name: "FAILURE"},
		{Kind: KindPresent, Name: "PRESENT"},
		{Kind: KindElection, Name: "ELECTION"},
		{Kind: KindElected, Name: "ELECTED"},
		{Kind: KindBehind, Name: "BEHIND"},
	}
}

// Broadcasts reports whether a message of that kind goes to all sites at once: the paper counts it as one sent message.
func Broadcasts(k wire.Kind) bool {
	switch {
	case k == KindSearchPos, k == KindSearchQueue, k == KindConsult, k == KindFailure, k == KindElection,
		k == KindElected:
		return true
	}
	return false
}

// body is what a message carries in its load. All numbers are big-endian; a rank of ffff is NIL.
//
//	byte   0  from      rank of the sender
//	       2  origin    rank of the site that asks, in REQ, BEHIND; of the addressee, in COMMIT, TOKEN
//	       4  next      the sender's next
//	       6  flags     1 the sender waits or has the section, 2 it holds the token
//	       7  preds     how many ranks follow
//	       8  number    of the request; in BEHIND of the highest that was heard
//	      16  pos       position of the sender, plus one; 0 is none
//	      24  clock     Lamport's logical clock
//	      32  known     the highest number of a token that the sender knows of
//	      40  round     which question is answered
//	      44  pred      ranks, the closest first; 20 at most
type body struct {
	from, origin rank
	number       uint64
	pos          position
	clock        uint64
	round        uint32
	next         rank
	flags        uint8
	preds        uint8
	known        wire.Seq
	pred         [MaxBackups]rank
}

const (
	flagInQueue = 1 << iota
	flagHolds

	predAt = 44
)

func (b *body) write(load *wire.Load) {
	binary.BigEndian.PutUint16(load[0:], b.from)
	binary.BigEndian.PutUint16(load[2:], b.origin)
	binary.BigEndian.PutUint16(load[4:], b.next)
	load[6], load[7] = b.flags, b.preds
	binary.BigEndian.PutUint64(load[8:], b.number)
	binary.BigEndian.PutUint64(load[16:], uint64(b.pos+1))
	binary.BigEndian.PutUint64(load[24:], b.clock)
	binary.BigEndian.PutUint64(load[32:], uint64(b.known))
	binary.BigEndian.PutUint32(load[40:], b.round)
	for i, r := range b.pred[:b.preds] {
		binary.BigEndian.PutUint16(load[predAt+2*i:], r)
	}
}

// readBody reads the load of a message. It returns false if a field is out of range.
func readBody(load *wire.Load, b *body) bool {
	pos := binary.BigEndian.Uint64(load[16:])
	number := binary.BigEndian.Uint64(load[8:])
	if pos > uint64(maxPosition+1) || number > wire.MaxBirth || load[7] > MaxBackups {
		return false
	}
	b.from = binary.BigEndian.Uint16(load[0:])
	b.origin = binary.BigEndian.Uint16(load[2:])
	b.next = binary.BigEndian.Uint16(load[4:])
	b.flags, b.preds = load[6], load[7]
	b.number = number
	b.pos = position(pos) - 1
	b.clock = min(binary.BigEndian.Uint64(load[24:]), maxClock)
	b.known = min(wire.Seq(binary.BigEndian.Uint64(load[32:])), wire.MaxSeq)
	b.round = binary.BigEndian.Uint32(load[40:])
	for i := range b.pred[:b.preds] {
		b.pred[i] = binary.BigEndian.Uint16(load[predAt+2*i:])
	}
	return true
}

// If a site could be made to send a value that the others do not read, it would be silenced for good. So a position or
// a clock that has come to its bound stays there: among sites with the same position or clock, the ranks decide.
// Positions of an honest gate stay below the number of its token's hops.
const (
	maxPosition position = 1 << 32
	maxClock             = 1 << 62
)

// after returns the position behind pos.
func after(pos position) position { return min(pos+1, maxPosition) }

// wellFormed reports whether m is a message of a tree. Of the messages of this package, only TOKEN and ELECTED name a
// token.
func wellFormed(m *wire.Message) bool {
	if handoff.Owns(m.Kind) {
		return handoff.WellFormed(m)
	}
	var b body
	named := m.Kind == KindToken || m.Kind == KindElected
	return m.Kind >= KindRequest && m.Kind < kindsEnd && m.Nonce == 0 && named == m.Token.IsWhole() &&
		(named || m.Token == wire.Ref{}) && readBody(&m.Load, &b)
}

// read reads the load of a message. It returns false if the load names another rank than its sender's as the sender, or
// any other rank that is neither NIL nor in the roster: all of them are places in this site's tables.
func (m *Machine) read(load *wire.Load, from wire.MemberID, b *body) bool {
	if !readBody(load, b) || b.from == nobody || !m.inRoster(b.from) || m.cfg.Roster[b.from] != from ||
		!m.inRoster(b.origin) || !m.inRoster(b.next) {
		return false
	}
	for _, r := range b.pred[:b.preds] {
		if !m.inRoster(r) {
			return false
		}
	}
	return true
}

// inRoster reports whether a rank is a site's, or NIL.
func (m *Machine) inRoster(r rank) bool { return r == nobody || int(r) < len(m.cfg.Roster) }

// believes reports whether a request can have such a number by this site's clock: "Its requests have numbers above
// those of its earlier life: by the wall clock". One forged number far ahead would silence its origin for good, because
// no later request would have a higher one. An impossible number of a token is not taken over either; the rest of the
// message may be true.
func (m *Machine) believes(now policy.Instant, b *body) bool {
	if b.known > m.cfg.latest(now.Wall) {
		b.known = 0
	}
	return b.number <= uint64(wire.LatestBirth(now.Wall))
}

// say returns a body with what every message tells about its sender.
func (m *Machine) say(origin rank, number uint64) body {
	b := body{
		from: m.self, origin: origin, number: number, pos: m.pos, clock: m.election.clock, known: m.known,
		next: m.next.rank,
	}
	if m.req {
		b.flags |= flagInQueue
	}
	if m.holds {
		b.flags |= flagInQueue | flagHolds
	}
	return b
}

func (m *Machine) send(kind wire.Kind, to rank, b body, out []policy.Effect) []policy.Effect {
	out, msg := policy.AppendMessage(out)
	msg.Gate, msg.Kind, msg.From, msg.To = m.cfg.Gate, kind, m.cfg.Self, m.cfg.Roster[to]
	b.write(&msg.Load)
	return out
}

// answer sends a message with what every message tells about its sender, and no more.
func (m *Machine) answer(kind wire.Kind, to rank, out []policy.Effect) []policy.Effect {
	return m.send(kind, to, m.say(to, 0), out)
}

// broadcast sends a message to all other sites. token is zero if the message names none.
func (m *Machine) broadcast(kind wire.Kind, token wire.Ref, b body, out []policy.Effect) []policy.Effect {
	for i := range m.cfg.Roster {
		if rank(i) != m.self {
			out = m.send(kind, rank(i), b, out)
			out[len(out)-1].Msg.Token = token
		}
	}
	return out
}

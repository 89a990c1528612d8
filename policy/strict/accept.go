package strict

import (
	"encoding/binary"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// A number is judged where it is read. An epoch is in Unix seconds, so its bound is the clock plus a day. That goes for
// the token of every message, and for the numbers of tokens in loads (a copy, a call of a ring, what a site knows, a
// refusal). The numbers of a tree's requests are clock times, too. A number that no clock can judge must not be able to
// silence a member: positions and logical clocks stop at their bound, a ring's member begins a new life of request
// numbers when it makes a token, and "busy until" is no longer than a lease. A member that has met a higher number than
// that of the token it is offered answers with that number, and the next token is above both: a forgery that is barely
// possible costs one token, and not a day.

// onReceived hands a message to the ballot, or to the ring or tree.
func (g *Machine) onReceived(now policy.Instant, m *wire.Message, out []policy.Effect) []policy.Effect {
	switch {
	case g.refusesOffer(m):
		if g.b.Outbids(now, m) {
			g.marks.Hit(markOfferRefused)
			return g.discard(now, out)
		}
		return out
	case ballot.Owns(m.Kind):
		if m.Kind == ballot.KindRelease && g.b.Accepts(m.Token.Seq) {
			g.marks.Hit(markReleaseHeard)
			g.proposeAt = min(g.proposeAt, now.Time) // The token that this member waits for is over.
		}
		return g.b.Receive(now, m, &g.end, out)
	}
	if m.Token.Seq > ballot.Latest(now.Wall) {
		g.marks.Hit(markUnbelieved)
		return policy.AppendTell(out, ballot.NoteEpochRefused, m.From, &m.Token)
	}
	hash := g.set.Roster.Hash()
	if stamped(m.Kind) {
		hash = binary.BigEndian.Uint64(m.Load[stampAt:])
	}
	out, counts := g.b.Counts(m, hash, out)
	if counts {
		g.b.Heard(now.Time)
	}
	switch {
	case counts && g.isOutdated(m):
		g.marks.Hit(markOutdated)
		return g.b.RefuseToken(now.Time, m, g.in.Newest(), out)
	case !counts || !g.accepts(m):
		return out
	}
	if (m.Kind == handoff.KindToken || m.Kind == kcopies.KindToken) && g.b.Token() != nil {
		// A majority has promised the epoch of m, so the token that is here is over.
		g.marks.Hit(markMeets)
		out = g.give(now, policy.CauseMet, m.From, out)
	}
	g.event.Kind, g.event.Msg = policy.Received, *m
	if stamped(m.Kind) {
		clear(g.event.Msg.Load[stampAt:])
	}
	return g.inside(now, &g.event, out)
}

// accepts reports whether a message is accepted. It judges only messages that bring a token or a copy of a token:
// "Nothing of an epoch below promised is accepted." (rule 7) While a command runs here, or a kept grant is handed back,
// no token is accepted. While a token is here, only a token of a newer epoch is accepted.
func (g *Machine) accepts(m *wire.Message) bool {
	if m.Kind != handoff.KindToken && m.Kind != handoff.KindCommit && m.Kind != kcopies.KindToken {
		return true
	}
	e := ballot.EpochOf(m.Token.Seq)
	switch here := g.b.Token(); {
	case e.Rank() >= g.set.Roster.Len() || !g.b.Accepts(m.Token.Seq):
		return false
	case g.turn.state >= running:
		return false
	case here != nil:
		return m.Kind != handoff.KindCommit && e > ballot.EpochOf(here.Seq)
	}
	return true
}

// isOutdated reports whether m offers a token of an epoch below promised, or below that of a token that the ring or
// tree has met, so that the ring or tree would discard it. The sender gets a refusal: otherwise it offers the token
// until its lease ends, and until then this member proposes in vain.
func (g *Machine) isOutdated(m *wire.Message) bool {
	return m.Kind == handoff.KindToken &&
		(g.b.IsOutdated(m.Token.Seq) || ballot.EpochOf(m.Token.Seq) < ballot.EpochOf(g.in.Newest()))
}

// refusesOffer reports whether m refuses the token that this member offers. A receiver that has promised a newer epoch
// will never accept the token, so the token is discarded like a contested one. No Commit of the offer has left, so no
// other member has the token, and it may be released.
func (g *Machine) refusesOffer(m *wire.Message) bool {
	return m.Kind == ballot.KindRefused && g.in.Handoff().Offers(m.Exchange, m.From)
}

// Expects implements [policy.Machine].
func (g *Machine) Expects(m *wire.Message) bool {
	switch {
	case g.gone || g.barred != "":
		return false
	case g.isOutdated(m), g.refusesOffer(m):
		return true
	case ballot.Owns(m.Kind):
		return g.b.Expects(m)
	}
	return g.accepts(m) && g.in.Expects(m)
}

// "its hash is in every strict message": in the last bytes of the load. An Ack and a Commit need no hash: the Token of
// their handoff had it.
const stampAt = wire.LoadSize - 8

func stamped(k wire.Kind) bool { return k != handoff.KindAck && k != handoff.KindCommit }

// stamp writes the hash of the roster to a message of the ring or tree.
func (g *Machine) stamp(m *wire.Message) {
	if stamped(m.Kind) && !ballot.Owns(m.Kind) {
		binary.BigEndian.PutUint64(m.Load[stampAt:], g.set.Roster.Hash())
	}
}

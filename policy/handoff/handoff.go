// Package handoff passes a token from one member to another by three messages. Any token protocol can use its machine.
//
// "It is composed of three successive messages: a token passing message carries the token from the sender to the
// receiver, an acknowledgement message is sent in reply to the previous message, and another commitment message sent by
// the token sender confirms the token receiver that the acknowledgement was received." (Ciuffoletti, section 4)
//
//	sender                          receiver
//	  Offer ── Token(h) ──────────▶  draws a nonce
//	        ◀─────────── Ack(h,n) ──
//	  gives the token up
//	        ── Commit(h,n) ───────▶  holds the token
//
// This property holds in every state, under loss, duplication, reordering and delay: "when both partners leave the
// protocol, at most one holds the token". The token is lost only if every Commit of a handoff is lost.
//
// Additions to the paper, which do not weaken this: both sides repeat their message until the answer comes or their
// patience ends, which is the paper's timeout or more; for a while the sender answers a repeated Ack with the same
// Commit; and the Commit is bound to the Ack's nonce, so a replayed Token and Commit meet another nonce and are
// refused.
//
// The package never chooses a receiver, does not interpret a token, and sends only these three messages.
//
// Its decisions, in docs/decisions: 017, 018, 019, 020, 021.
package handoff

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/marks"
	"github.com/wanderd/wanderd/wire"
)

// Limits of one member's tables. A fleet with one token needs one entry of each; the others are for several tokens and
// late datagrams.
const (
	maxIncoming  = 4
	maxCommitted = 4
	maxFinished  = 12
)

// Config configures the handoffs of a gate.
type Config struct {
	Gate wire.GateID
	Self wire.MemberID
	// Timeout is the least time for which a partner waits for an answer; in a slow network it waits longer. "For
	// convenience, they are set to Δskip: they should neither be much shorter than this, since this makes the timing of
	// the token passing operation uselessly critical, nor too large, since this would make time consuming the detection
	// of a token passing failure." (Ciuffoletti, section 4)
	Timeout time.Duration
	// Entropy draws handoff identities and nonces.
	Entropy policy.Entropy
	// Marks are told of rare branches; nil if nobody listens.
	Marks *marks.Marker
}

// Machine is one member's handoffs in one gate: at most one as sender, a few as receiver. It is a plain value.
type Machine struct {
	cfg      Config
	rtt      estimator
	patience patience
	// closed is set if new offers are not acknowledged.
	closed bool
	// receiving is the number of incoming handoffs in progress.
	receiving uint8
	// finishedNext and committedNext are the places of the next entries; an entry replaces the oldest.
	finishedNext, committedNext uint8

	finished  [maxFinished]wire.Exchange
	outgoing  outgoing
	failed    failed
	incoming  [maxIncoming]incoming
	committed [maxCommitted]committed
}

// Ending is how a handoff ended for this member.
type Ending uint8

const (
	// Pending: no handoff ended in this call.
	Pending Ending = iota
	// Passed: the receiver acknowledged; this member no longer holds the token.
	Passed
	// Failed: the receiver did not acknowledge in time; this member still holds the token.
	Failed
	// Arrived: the sender committed; this member holds the token.
	Arrived
)

// Outcome is the result of a call. Peer, Token and Load are set unless Ending is Pending. A call writes it to the
// caller's variable, and only if a handoff ended: it is large, and most calls end none.
type Outcome struct {
	Ending Ending
	Peer   wire.MemberID
	Token  wire.Ref
	Load   wire.Load
	// Took and Left come with Arrived: the time since this member first acknowledged the offer, and the rest of the
	// sender's lease when the sender got this Ack (see Lend).
	Took, Left time.Duration
}

// New returns a machine without any handoff in progress.
func New(cfg Config) Machine {
	return Machine{cfg: cfg, rtt: estimator{handoff: cfg.Timeout}, patience: patience{timeout: cfg.Timeout}}
}

// Expects reports whether m could change anything now.
func (h *Machine) Expects(m *wire.Message) bool {
	switch m.Kind {
	case KindToken:
		return !h.isFinished(m.Exchange) && (!h.closed || h.findOffer(m) != nil)
	case KindAck:
		return h.outgoing.answeredBy(m) || h.failed.find(m) >= 0 || h.findCommitted(m) != nil
	case KindCommit:
		return h.findIncoming(m) != nil
	}
	return false
}

// Answers reports whether m is the first Ack of the last offer, in time or too late.
func (h *Machine) Answers(m *wire.Message) bool {
	return m.Kind == KindAck && (h.outgoing.answeredBy(m) || h.failed.isLast(h.failed.find(m)))
}

// Close makes the machine refuse new offers, until Reopen. Handoffs in progress continue.
func (h *Machine) Close() { h.closed = true }

// Reopen makes the machine accept new offers again.
func (h *Machine) Reopen() { h.closed = false }

// Abandon leaves every handoff in progress: this member keeps an offered token, and tokens that it has acknowledged do
// not arrive. There is no outcome.
func (h *Machine) Abandon(out []policy.Effect) []policy.Effect {
	h.Withdraw()
	for in := range h.inProgress {
		h.cfg.Marks.Hit(markAbandoned)
		out = h.giveUpIncoming(in, out)
	}
	return out
}

// Refuse leaves the handoff in progress of a token whose sender asks for its holder: the sender has given the token up,
// and looks for it. A later Commit is ignored.
func (h *Machine) Refuse(ask *wire.Message, out []policy.Effect) []policy.Effect {
	for in := range h.inProgress {
		if in.from == ask.From && in.token.ID == ask.Token.ID && in.token.Seq < ask.Token.Seq {
			h.cfg.Marks.Hit(markRefused)
			out = h.giveUpIncoming(in, out)
		}
	}
	return out
}

// Forget leaves the handoffs of a token that this member has passed on, and of which it now holds a newer copy. A late
// Ack then gets no Commit; otherwise there would be two holders.
func (h *Machine) Forget(id wire.TokenID) {
	for i := range h.committed {
		if c := &h.committed[i]; c.birth == id.Birth && c.random == id.Random {
			h.cfg.Marks.Hit(markForgotten)
			*c = committed{}
		}
	}
}

// Receive handles a message of a handoff.
func (h *Machine) Receive(now policy.Time, m *wire.Message, end *Outcome, out []policy.Effect) []policy.Effect {
	switch m.Kind {
	case KindToken:
		return h.onToken(now, m, out)
	case KindAck:
		return h.onAck(now, m, end, out)
	case KindCommit:
		return h.onCommit(now, m, end, out)
	}
	return out
}

// Wake does what is due: it repeats messages and gives up on partners. Only a failed offer has an outcome.
func (h *Machine) Wake(now policy.Time, end *Outcome, out []policy.Effect) []policy.Effect {
	for in := range h.inProgress {
		out = h.wakeIncoming(now, in, out)
	}
	return h.wakeOutgoing(now, end, out)
}

// NextWake returns when Wake must be called; Never, if it need not be.
func (h *Machine) NextWake() (at policy.Time, ok bool) {
	at = policy.Never
	if h.outgoing.live() {
		at = min(h.outgoing.repeatAt(), h.giveUpAt())
	}
	for in := range h.inProgress {
		at = min(at, in.repeatAt(), in.giveUpAt)
	}
	return at, at < policy.Never
}

// Receiving reports whether a token may still arrive from a sender that was acknowledged.
func (h *Machine) Receiving() bool { return h.receiving > 0 }

// Patience is the longest time for which this member waits for a partner: the timeout, or longer in a slow network or
// where a partner is far away.
func (h *Machine) Patience() time.Duration { return h.patience.lasts(h.patience.longest()) }

// PatienceWith is how long this member waits for that partner.
func (h *Machine) PatienceWith(id wire.MemberID) time.Duration { return h.patience.with(id.Hint()) }

// RoundTripWith is the longest recent time until an answer of that partner, as far as this member knows.
func (h *Machine) RoundTripWith(id wire.MemberID) time.Duration { return h.patience.to(id.Hint()) }

// RoundTrip is the longest recent time until an answer, including partners that are far away; zero if there was none.
func (h *Machine) RoundTrip() time.Duration { return h.patience.longest() }

// Keep forgets how far away members are that have left the fleet: those whose hints are not present.
func (h *Machine) Keep(present func(hint uint32) bool) {
	h.patience.distances.keep(present, h.patience.tooSlow())
}

// Nearest is the round trip to the nearest partner that this member knows of; zero if it knows of none.
func (h *Machine) Nearest() time.Duration { return h.patience.distances.shortest() }

// Measure records how long a partner took for an answer that belongs to no handoff. An answer that comes later than any
// member waits is a replay, or meaningless.
func (h *Machine) Measure(from wire.MemberID, after time.Duration) {
	if after < h.patience.most() {
		h.patience.answered(from.Hint(), after)
	}
}

// Failures is how many offers have failed since a token was passed or received.
func (h *Machine) Failures() int { return int(h.patience.failures) }

// QuietAt returns the time from which no partner needs this member, if no other handoff begins: from then on, no Commit
// has to be repeated. ok is false while a handoff is in progress.
func (h *Machine) QuietAt() (at policy.Time, ok bool) {
	if h.outgoing.live() || h.Receiving() {
		return 0, false
	}
	for i := range h.committed {
		at = max(at, h.committed[i].forgetAt)
	}
	return at, true
}

// isFinished reports whether the handoff is among the last that ended here.
func (h *Machine) isFinished(id wire.Exchange) bool {
	return slices.Contains(h.finished[:], id)
}

// finish records a handoff that ended here, so that a late duplicate of its Token is ignored.
func (h *Machine) finish(id wire.Exchange) {
	h.finished[h.finishedNext] = id
	h.finishedNext = (h.finishedNext + 1) % maxFinished
}

// sameToken reports whether an Ack or Commit, whose generator is NULL, is about t.
func sameToken(m *wire.Message, t *wire.Ref) bool {
	return m.Token.ID.Birth == t.ID.Birth && m.Token.ID.Random == t.ID.Random && m.Token.Seq == t.Seq
}

package handoff

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// incoming is a handoff that this member has acknowledged: it does not hold the token before the Commit.
type incoming struct {
	live     bool
	repeated bool
	from     wire.MemberID
	id       wire.Exchange
	token    wire.Ref
	load     wire.Load
	nonce    wire.Nonce
	since    policy.Time
	// The Ack was sent at sentAt, and is repeated after wait.
	sentAt   policy.Time
	wait     time.Duration
	giveUpAt policy.Time
}

func (in *incoming) repeatAt() policy.Time { return in.sentAt.Add(in.wait) }

// inProgress yields the incoming handoffs in progress.
func (h *Machine) inProgress(yield func(*incoming) bool) {
	for i, left := 0, h.receiving; left > 0; i++ {
		in := &h.incoming[i]
		if !in.live {
			continue
		}
		left--
		if !yield(in) {
			return
		}
	}
}

// onToken acknowledges an offer, with a new nonce for each handoff.
func (h *Machine) onToken(now policy.Time, m *wire.Message, out []policy.Effect) []policy.Effect {
	if h.isFinished(m.Exchange) {
		h.cfg.Marks.Hit(markOfferEnded)
		return policy.AppendTell(out, NoteTokenAgain, m.From, &m.Token)
	}
	if in := h.findOffer(m); in != nil {
		return h.onTokenAgain(now, in, out)
	}
	var in *incoming
	if !h.closed {
		in, out = h.makeRoom(out)
	}
	if in == nil {
		h.cfg.Marks.Hit(markOfferRefused)
		return policy.AppendTell(out, NoteStrayToken, m.From, &m.Token)
	}
	*in = incoming{
		live: true, from: m.From, id: m.Exchange, token: m.Token, load: m.Load,
		nonce: wire.Nonce(policy.Draw(h.cfg.Entropy)), since: now,
		sentAt: now, wait: h.patience.repeats(m.From.Hint(), h.rtt.timeout()),
		giveUpAt: now.Add(h.patience.forCommit(m.From.Hint())),
	}
	if h.receiving++; h.receiving > 1 {
		h.cfg.Marks.Hit(markSecondOffer)
	}
	return h.sendAck(in, out)
}

// onTokenAgain answers a repeated offer with the same Ack. The sender had no answer when it repeated, so the wait for
// its Commit begins again, and lasts for as long as the handoff has been open: a round trip may take that long. A
// sender repeats at least twice in a timeout, so a receiver need not know the sender's patience. No sender waits longer
// than the longest patience, so a replayed Token does not keep the handoff open for longer. A member that is about to
// leave waits for at most two patiences.
func (h *Machine) onTokenAgain(now policy.Time, in *incoming, out []policy.Effect) []policy.Effect {
	h.cfg.Marks.Hit(markOfferAgain)
	out = policy.AppendTell(out, NoteTokenAgain, in.from, &in.token)
	if now >= in.giveUpAt {
		h.cfg.Marks.Hit(markOfferTooLate)
		return out
	}
	in.repeated, in.sentAt = true, now
	longest := h.patience.most()
	if h.closed {
		longest = policy.Times(2, h.PatienceWith(in.from))
	}
	in.giveUpAt = min(now.Add(max(h.patience.forCommit(in.from.Hint()), now.Sub(in.since))), in.since.Add(longest))
	return h.sendAck(in, out)
}

// onCommit ends the handoff: this member holds the token. The Commit must repeat the nonce of this member's Ack, and be
// in time: a member that was paused may find a late Commit before it is woken to give up.
func (h *Machine) onCommit(now policy.Time, m *wire.Message, end *Outcome, out []policy.Effect) []policy.Effect {
	in := h.findIncoming(m)
	if in == nil || now >= in.giveUpAt {
		h.cfg.Marks.Hit(markCommitLate)
		return policy.AppendTell(out, NoteStrayCommit, m.From, &m.Token)
	}
	h.sample(in.from, now.Sub(in.sentAt))
	out = h.learn(now.Sub(in.since), in.from, out)
	end.Ending, end.Peer, end.Token, end.Load, end.Took = Arrived, in.from, in.token, in.load, now.Sub(in.since)
	end.Left = leftOf(&m.Load)
	h.closeIncoming(in)
	return out
}

// wakeIncoming repeats the Ack, and gives up on a sender that does not commit. "In case the token receiver does not
// receive the commitment in time, it will consider the token as lost, and it will not execute the protected operation."
// (Ciuffoletti, section 4)
func (h *Machine) wakeIncoming(now policy.Time, in *incoming, out []policy.Effect) []policy.Effect {
	switch {
	case now >= in.giveUpAt:
		out = h.giveUpIncoming(in, out)
	case now >= in.repeatAt():
		h.cfg.Marks.Hit(markAckRepeated)
		in.repeated, in.sentAt, in.wait = true, now, h.rtt.next(in.wait)
		out = h.sendAck(in, out)
	}
	return out
}

// giveUpIncoming ends the handoff without the token.
func (h *Machine) giveUpIncoming(in *incoming, out []policy.Effect) []policy.Effect {
	h.cfg.Marks.Hit(markNoCommit)
	out = policy.AppendTell(out, NoteNoCommit, in.from, &in.token)
	h.closeIncoming(in)
	return out
}

func (h *Machine) closeIncoming(in *incoming) {
	h.finish(in.id)
	*in = incoming{}
	h.receiving--
}

func (h *Machine) sendAck(in *incoming, out []policy.Effect) []policy.Effect {
	out, ack := policy.AppendMessage(out)
	ack.Gate, ack.Kind, ack.From, ack.To = h.cfg.Gate, KindAck, h.cfg.Self, in.from
	ack.Exchange, ack.Nonce, ack.Token = in.id, in.nonce, in.token.Bare()
	return out
}

// findOffer returns the handoff in progress that m offers, or nil.
func (h *Machine) findOffer(m *wire.Message) *incoming {
	for in := range h.inProgress {
		if in.id == m.Exchange && in.from == m.From {
			return in
		}
	}
	return nil
}

// findIncoming returns the handoff that m commits, or nil.
func (h *Machine) findIncoming(m *wire.Message) *incoming {
	for in := range h.inProgress {
		if in.id == m.Exchange && in.from == m.From && in.nonce == m.Nonce && sameToken(m, &in.token) {
			return in
		}
	}
	return nil
}

// makeRoom returns a place for another handoff, or nil. If all are taken, it ends the oldest one that had to repeat its
// Ack: a live sender commits within a round trip, so this handoff has lost its sender, or comes from a replayed Token
// that is meant to block others.
func (h *Machine) makeRoom(out []policy.Effect) (*incoming, []policy.Effect) {
	var oldest *incoming
	for i := range h.incoming {
		in := &h.incoming[i]
		if !in.live {
			return in, out
		}
		if in.repeated && (oldest == nil || in.since < oldest.since) {
			oldest = in
		}
	}
	if oldest != nil {
		h.cfg.Marks.Hit(markRoomMade)
		out = h.giveUpIncoming(oldest, out)
	}
	return oldest, out
}

package handoff

import (
	"encoding/binary"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// These constants are for a sender that is about to leave: how long it waits at least for an answer to its first offer,
// in waits before a repetition, and how often that wait doubles at most.
const (
	hasteRepeats = 8
	leastHaste   = 100 * time.Millisecond
	mostHastes   = 16
)

// outgoing is the offer in progress: this member still holds the token.
type outgoing struct {
	id    wire.Exchange // zero if there is none
	to    wire.MemberID
	token wire.Ref
	load  wire.Load
	since policy.Time
	// The message was sent at sentAt, and is repeated after wait.
	sentAt policy.Time
	wait   time.Duration
	// until is when the sender's lease ends.
	until policy.Time
}

func (o *outgoing) live() bool { return o.id != 0 }

func (o *outgoing) repeatAt() policy.Time { return o.sentAt.Add(o.wait) }

// maxFailed is how many failed offers are remembered: while one partner's answer is under way, others are offered the
// token.
const maxFailed = 4

// failed has the last offers without an answer in time. A late answer still measures how long answers take.
type failed struct {
	ids   [maxFailed]wire.Exchange
	since [maxFailed]policy.Time
	to    [maxFailed]uint32
	// next is the place of the next offer, which replaces the oldest.
	next uint8
}

func (f *failed) add(o *outgoing) {
	f.ids[f.next], f.since[f.next], f.to[f.next] = o.id, o.since, o.to.Hint()
	f.next = (f.next + 1) % maxFailed
}

// find returns the place of the offer that m answers; -1 if there is none.
func (f *failed) find(m *wire.Message) int {
	for i, id := range f.ids {
		if id != 0 && id == m.Exchange && f.to[i] == m.From.Hint() {
			return i
		}
	}
	return -1
}

// isLast reports whether the offer at a place was the last one that failed.
func (f *failed) isLast(place int) bool {
	return place >= 0 && place == int(f.next+maxFailed-1)%maxFailed
}

// forget forgets the offers to a partner: a partner that was paused answers all of them at once, and that tells no more
// than one answer.
func (f *failed) forget(hint uint32) {
	for i, to := range f.to {
		if to == hint {
			f.ids[i] = 0
		}
	}
}

// committed is a handoff whose token has been given up, with enough of its Ack to answer a repetition with the same
// Commit. It needs no timer: it is used only when an Ack comes.
type committed struct {
	id       wire.Exchange
	to       wire.MemberID
	nonce    wire.Nonce
	birth    int64
	random   uint64
	seq      wire.Seq
	forgetAt policy.Time
}

// answeredBy reports whether m is the Ack that the offer waits for.
func (o *outgoing) answeredBy(m *wire.Message) bool {
	return o.live() && m.Exchange == o.id && m.From == o.to && sameToken(m, &o.token)
}

// Offer begins to pass token, with its load, to a member. There must be no other offer in progress.
func (h *Machine) Offer(now policy.Time, token *wire.Ref, load *wire.Load, to wire.MemberID,
	out []policy.Effect,
) []policy.Effect {
	h.outgoing = outgoing{
		id: wire.Exchange(policy.Draw(h.cfg.Entropy)), to: to, token: *token, load: *load,
		since: now, sentAt: now, wait: h.patience.repeats(to.Hint(), h.rtt.timeout()),
	}
	return h.sendToken(policy.AppendTell(out, NoteOffered, to, token))
}

// Offers reports whether the handoff id to the given member is the offer in progress.
func (h *Machine) Offers(id wire.Exchange, to wire.MemberID) bool {
	return h.outgoing.live() && h.outgoing.id == id && h.outgoing.to == to
}

// Lend sets the end of the lease that goes with the offer in progress: the Commit carries how much is left. A repeated
// Commit carries that nothing is left. Lend must be called again when the end moves.
func (h *Machine) Lend(until policy.Time) { h.outgoing.until = until }

// giveUpAt is when the offer in progress fails. A member that is about to leave waits for as long as the usual answer
// may take, or that of a distant partner, and twice as long after each offer that fails: there is little time, and
// other members may take the token. A receiver that answers too late gets no Commit.
func (h *Machine) giveUpAt() policy.Time {
	to := h.outgoing.to.Hint()
	wait := h.patience.with(to)
	if h.closed {
		usual := max(hasteRepeats*h.rtt.timeout(), roundTripsPerPatience*h.patience.distances.to(to), leastHaste)
		wait = min(h.patience.calm(h.patience.to(to)), usual<<min(h.patience.failures, mostHastes))
	}
	return h.outgoing.since.Add(wait)
}

// Withdraw ends the offer in progress, if there is one; a later Ack is ignored. It also resets the count of failed
// offers, because the owner stops offering for now.
func (h *Machine) Withdraw() {
	h.outgoing = outgoing{}
	h.patience.failures = 0
}

// endOffer ends the offer in progress with an outcome.
func (h *Machine) endOffer(how Ending, end *Outcome) {
	end.Ending, end.Peer, end.Token, end.Load = how, h.outgoing.to, h.outgoing.token, h.outgoing.load
	h.outgoing = outgoing{}
}

func (h *Machine) sendToken(out []policy.Effect) []policy.Effect {
	out, offer := policy.AppendMessage(out)
	offer.Gate, offer.Kind, offer.From, offer.To = h.cfg.Gate, KindToken, h.cfg.Self, h.outgoing.to
	offer.Exchange, offer.Token, offer.Load = h.outgoing.id, h.outgoing.token, h.outgoing.load
	return out
}

// onAck gives the token up and commits. The member gives the token up before the first Commit leaves, and never takes
// it back, even if the Commit is lost. "Both components will silently discard late messages" (Ciuffoletti, section 4).
// An Ack after the patience is late, even if this member was paused and has not been woken to give up yet: the receiver
// may have given up.
func (h *Machine) onAck(now policy.Time, m *wire.Message, end *Outcome, out []policy.Effect) []policy.Effect {
	if !h.outgoing.answeredBy(m) || now >= h.giveUpAt() {
		h.cfg.Marks.Hit(markAckLate)
		return h.onLateAck(now, m, out)
	}
	h.sample(m.From, now.Sub(h.outgoing.sentAt))
	out = h.learn(now.Sub(h.outgoing.since), m.From, out)
	left := max(h.outgoing.until.Sub(now), 0)
	h.remember(m, now.Add(h.linger(m.From)))
	h.endOffer(Passed, end)
	out = policy.AppendTell(out, NotePassed, end.Peer, &end.Token)
	out = policy.AppendGave(out, policy.CausePassed, end.Peer, &end.Token)
	return sendCommit(m, left, out)
}

// sendCommit answers an Ack. The load of a Commit is the rest of the sender's lease, in nanoseconds; zero if the sender
// has no lease.
func sendCommit(ack *wire.Message, left time.Duration, out []policy.Effect) []policy.Effect {
	out, commit := policy.AppendMessage(out)
	reply(commit, ack, KindCommit, ack.Nonce)
	binary.BigEndian.PutUint64(commit.Load[:], uint64(left))
	return out
}

// leftOf returns the rest of the lease that the load of a Commit names.
func leftOf(commit *wire.Load) time.Duration {
	return time.Duration(binary.BigEndian.Uint64(commit[:]))
}

// sample records the time between the last sending of a message and its answer, for the repetitions to all partners. A
// partner that is far away tells nothing about the others, and repetitions to it are not timed by this.
func (h *Machine) sample(from wire.MemberID, after time.Duration) {
	if h.patience.distances.to(from.Hint()) <= h.patience.timeout/2 {
		h.rtt.sample(after)
	}
}

// learn records how long an answer took.
func (h *Machine) learn(after time.Duration, from wire.MemberID, out []policy.Effect) []policy.Effect {
	if h.patience.answered(from.Hint(), after) {
		h.cfg.Marks.Hit(markSlowNetwork)
		return policy.AppendTell(out, NoteSlowNetwork, from, nil)
	}
	return out
}

// onLateAck answers a repeated Ack with the same Commit. It does not answer any other Ack; an Ack for a failed offer
// shows that the patience was too short.
func (h *Machine) onLateAck(now policy.Time, m *wire.Message, out []policy.Effect) []policy.Effect {
	if c := h.findCommitted(m); c != nil && now < c.forgetAt {
		h.cfg.Marks.Hit(markAckAgain)
		out = policy.AppendTell(out, NoteAckAgain, m.From, &m.Token)
		return sendCommit(m, 0, out)
	}
	if place := h.failed.find(m); place >= 0 {
		h.cfg.Marks.Hit(markAckMeasured)
		out = h.learn(now.Sub(h.failed.since[place]), m.From, out)
		h.failed.forget(m.From.Hint())
	}
	return policy.AppendTell(out, NoteStrayAck, m.From, &m.Token)
}

// wakeOutgoing repeats the Token, and gives up on a receiver that does not answer. "In case the token sender does not
// receive the acknowledgement in time, it […] will not send the commitment. The token passing operation is considered
// as failed, and is retried, possibly selecting another neighbor." (Ciuffoletti, section 4)
func (h *Machine) wakeOutgoing(now policy.Time, end *Outcome, out []policy.Effect) []policy.Effect {
	o := &h.outgoing
	switch {
	case !o.live():
	case now >= h.giveUpAt():
		h.cfg.Marks.Hit(markNoAck)
		h.failed.add(o)
		h.patience.failed()
		h.endOffer(Failed, end)
		out = policy.AppendTell(out, NoteNoAck, end.Peer, &end.Token)
	case now >= o.repeatAt():
		h.cfg.Marks.Hit(markOfferRepeated)
		o.sentAt, o.wait = now, h.rtt.next(o.wait)
		out = h.sendToken(out)
	}
	return out
}

// linger is how long a Commit may have to be repeated: the receiver repeats its Ack for a patience after the last
// Token, and this Token may have been in flight for a while.
func (h *Machine) linger(with wire.MemberID) time.Duration {
	return policy.Times(2, h.PatienceWith(with))
}

func (h *Machine) findCommitted(m *wire.Message) *committed {
	for i := range h.committed {
		c := &h.committed[i]
		if c.id == m.Exchange && c.to == m.From && c.nonce == m.Nonce &&
			c.birth == m.Token.ID.Birth && c.random == m.Token.ID.Random && c.seq == m.Token.Seq {
			return c
		}
	}
	return nil
}

// remember keeps an answered Ack until the given time, in place of the oldest entry.
func (h *Machine) remember(ack *wire.Message, until policy.Time) {
	h.committed[h.committedNext] = committed{
		id: ack.Exchange, to: ack.From, nonce: ack.Nonce,
		birth: ack.Token.ID.Birth, random: ack.Token.ID.Random, seq: ack.Token.Seq, forgetAt: until,
	}
	h.committedNext = (h.committedNext + 1) % maxCommitted
}

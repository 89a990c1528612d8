package measure

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// custody records where the tokens are: held by a member, or on their way between a sender that has given one up and a
// receiver that waits for the Commit. It accounts for every token, so that at any time
//
//	generated + revived − removed − lost = alive
//
// It uses the effects of the machines and not their status, which would cost far more. A token that was given up
// and not taken is lost when the receiver no longer waits for its Commit.
type custody struct {
	world world
	// quiet bounds the duration of a handoff without an end. Zero means no bound.
	quiet   time.Duration
	members []keeper
	pending []passage
	// passing is true if passed was given up in this step and its Commit has not been sent yet.
	passing bool
	passed  wire.Ref
	// alive is how many tokens are held or pending. bySlot has those of each slot.
	alive                             int
	bySlot                            []int
	generated, revived, removed, lost int
	// diedAt is when the last token died, by removal or loss. A token that was on its way died when it was given up.
	diedAt policy.Time
	losses losses
}

// world is the part of the cluster that a custody needs.
type world interface {
	// Expects reports whether a message would have any effect on a member, which is up, now.
	Expects(member int, m *wire.Message) bool
}

type keeper struct {
	up bool
	// hands is how many tokens of each slot the member has.
	hands [wire.MaxSlots]int8
}

// passage is a handoff without an end whose sender has given the token up.
type passage struct {
	commit wire.Message
	token  wire.TokenID
	slot   uint8
	since  policy.Time
}

// tokens returns zero if a slot has no token, and otherwise the number of tokens of the slot that has most: one if
// every slot has one.
func (k *custody) tokens() int {
	if slices.Min(k.bySlot) == 0 {
		return 0
	}
	return slices.Max(k.bySlot)
}

// end records that a process ends: the tokens that it holds, or that are on their way to it, are lost.
func (k *custody) end(now policy.Time, member int) {
	m := &k.members[member]
	m.up = false
	for slot := range m.hands {
		for ; m.hands[slot] > 0; m.hands[slot]-- {
			k.lose(now, now, uint8(slot))
		}
	}
	k.giveUp(now, func(h *passage) bool { return sim.IndexOf(h.commit.To) == member })
}

// sent records a message. After a token was passed on, the next message of the same step carries it to the receiver. If
// the receiver is down, the token is lost.
func (k *custody) sent(o *sim.Occurrence, m *wire.Message) {
	if !k.passing {
		return
	}
	k.passing = false
	if !k.members[sim.IndexOf(m.To)].up {
		k.lose(o.At, o.At, k.passed.Slot)
		return
	}
	k.pending = append(k.pending, passage{commit: *m, token: k.passed.ID, slot: k.passed.Slot, since: o.At})
}

// stepped ends a step of a member, or what its shell did instead. If the member has passed the token on and sent no
// Commit, it crashes now.
func (k *custody) stepped(now policy.Time, member int) {
	if k.passing {
		k.passing = false
		k.lose(now, now, k.passed.Slot)
	}
	if len(k.pending) > 0 {
		k.giveUp(now, func(h *passage) bool {
			return sim.IndexOf(h.commit.To) == member && !k.world.Expects(member, &h.commit)
		})
	}
}

func (k *custody) took(o *sim.Occurrence, e *policy.Effect) {
	slot := e.Token.Slot
	k.members[o.Member].hands[slot]++
	switch {
	case e.Cause == policy.CauseReceived:
		if !k.arrives(o.Member, o.Event.Msg.Exchange) {
			k.lost-- // Its sender has revived it meanwhile, and was asked for the Commit once more.
			k.live(o.At, slot)
		}
		return
	case e.Cause == policy.CauseMade:
		k.giveUp(o.At, func(h *passage) bool { return k.quiet > 0 && o.At.Sub(h.since) > k.quiet })
		k.generated++
	case e.Cause == policy.CauseRevived, e.Cause == policy.CauseKept:
		k.giveUp(o.At, func(h *passage) bool { return h.token == e.Token.ID && sim.IndexOf(h.commit.From) == o.Member })
		k.revived++
	}
	k.live(o.At, slot)
}

func (k *custody) gave(o *sim.Occurrence, e *policy.Effect) {
	slot := e.Token.Slot
	k.members[o.Member].hands[slot]--
	switch {
	case e.Cause == policy.CausePassed:
		k.passing, k.passed = true, e.Token
	case e.Cause.Discards():
		k.die(o.At, o.At, slot, true)
		k.removed++
	default:
		k.lose(o.At, o.At, slot)
	}
}

// arrives ends a handoff whose token is taken, unless the handoff has been given up.
func (k *custody) arrives(member int, id wire.Exchange) (found bool) {
	for i := range k.pending {
		if h := &k.pending[i]; h.commit.Exchange == id && sim.IndexOf(h.commit.To) == member {
			k.forget(i)
			return true
		}
	}
	return false
}

// giveUp ends handoffs whose token did not arrive.
func (k *custody) giveUp(now policy.Time, which func(*passage) bool) {
	for i := len(k.pending) - 1; i >= 0; i-- {
		if h := &k.pending[i]; which(h) {
			since, slot := h.since, h.slot
			k.forget(i)
			k.lose(now, since, slot)
		}
	}
}

func (k *custody) forget(i int) {
	last := len(k.pending) - 1
	k.pending[i] = k.pending[last]
	k.pending = k.pending[:last]
}

// lose records that a token is lost, since a time that may be in the past.
func (k *custody) lose(now, since policy.Time, slot uint8) {
	k.die(now, since, slot, false)
	k.lost++
}

func (k *custody) live(now policy.Time, slot uint8) {
	k.alive++
	k.bySlot[slot]++
	k.losses.live(now, slot)
}

func (k *custody) die(now, since policy.Time, slot uint8, removed bool) {
	k.alive--
	k.bySlot[slot]--
	k.diedAt = since
	k.losses.die(now, since, slot, removed)
}

func (k *custody) begin() {
	k.generated, k.revived, k.removed, k.lost = 0, 0, 0, 0
	k.losses.begin()
}

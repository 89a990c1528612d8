package measure

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// custody is where the tokens are: in a member's hands, or on their way between a sender that has given one up and a
// receiver that waits for its Commit. It books what becomes of every token, so that at any time
//
//	generated + revived − removed − lost = alive
//
// It goes by what the machines tell and send, and not by their status, which costs far more to ask for.
type custody struct {
	// quiet is how long a handoff without an end is believed in; zero is for ever.
	quiet   time.Duration
	members []keeper
	pending []handoff
	// passing says that passed has been given up in this step, and no Commit sent yet.
	passing bool
	passed  wire.Token
	// alive are the tokens in hands and in pending, bySlot those of each slot.
	alive                             int
	bySlot                            []int
	generated, revived, removed, lost int
	// diedAt is since when nobody has the token that was removed or lost last: one that was under way, since it was given up.
	diedAt policy.Time
	losses losses
}

type keeper struct {
	up bool
	// hands is how many tokens of each slot the member has.
	hands [wire.MaxSlots]int8
}

// handoff is one whose token the sender has given up, and whose end is not known.
type handoff struct {
	from, to wire.MemberID
	id       wire.HandoffID
	token    wire.Token
	since    policy.Time
}

func newCustody(members, slots int, quiet, good time.Duration) custody {
	slots = max(slots, 1)
	return custody{quiet: quiet, members: make([]keeper, members), bySlot: make([]int, slots), losses: newLosses(slots, good)}
}

// tokens is how many there are of the slot with fewest, if that is none, and else of the one with most: one if every slot has one.
func (k *custody) tokens() int {
	if slices.Min(k.bySlot) == 0 {
		return 0
	}
	return slices.Max(k.bySlot)
}

func (k *custody) arrive(member int) { k.members[member].up = true }

// end: "lost" are also the tokens in the hands of a process that ends, and those under way to it.
func (k *custody) end(now policy.Time, member int) {
	m := &k.members[member]
	m.up = false
	for slot := range m.hands {
		for ; m.hands[slot] > 0; m.hands[slot]-- {
			k.lose(now, now, uint8(slot))
		}
	}
	k.giveUp(now, func(h *handoff) bool { return sim.IndexOf(h.to) == member })
}

// sent books a message. The Commit that follows "passed" in the same step opens a handoff: in vain, if nobody is there.
func (k *custody) sent(o *sim.Occurrence, m *wire.Message) {
	if !k.passing || m.Kind != wire.KindCommit {
		return
	}
	k.passing = false
	k.pending = append(k.pending, handoff{from: m.From, to: m.To, id: m.Handoff, token: k.passed, since: o.At})
	if !k.members[sim.IndexOf(m.To)].up {
		k.refuse(o.At, sim.IndexOf(m.To), m.Handoff)
	}
}

// stepped ends a step. Who passed the token on and sent no Commit crashes now.
func (k *custody) stepped(now policy.Time) {
	if k.passing {
		k.passing = false
		k.lose(now, now, k.passed.Slot)
	}
}

// tell books one note, and reports whether a token came into the member's hands.
func (k *custody) tell(o *sim.Occurrence, e *policy.Effect) bool {
	switch e.Note {
	case policy.NoteMinted, policy.NoteRegenerated:
		k.giveUp(o.At, func(h *handoff) bool { return k.quiet > 0 && o.At.Sub(h.since) > k.quiet })
		k.generated++
		k.live(o.At, e.Token.Slot)
		k.members[o.Member].hands[e.Token.Slot]++
		return true
	case policy.NoteRevived:
		k.giveUp(o.At, func(h *handoff) bool { return h.token.ID == e.Token.ID && sim.IndexOf(h.from) == o.Member })
		k.revived++
		k.live(o.At, e.Token.Slot)
		k.members[o.Member].hands[e.Token.Slot]++
		return true
	case policy.NoteArrived:
		k.receive(o, e.Token.Slot)
		return true
	case policy.NoteOutdated:
		// One that arrives is dropped before anything is told of its arrival.
		if !e.Peer.IsZero() {
			k.receive(o, e.Token.Slot)
		}
		k.remove(o, e.Token.Slot)
	case policy.NoteRemoved, policy.NoteMet, policy.NoteOvertaken:
		k.remove(o, e.Token.Slot)
	case policy.NotePassed:
		k.drop(o.Member, e.Token.Slot)
		k.passing, k.passed = true, e.Token
	case policy.NoteGaveUp, policy.NoteYielded, policy.NoteDropped:
		k.drop(o.Member, e.Token.Slot)
		k.lose(o.At, o.At, e.Token.Slot)
	case policy.NoteNoCommit:
		k.giveUp(o.At, func(h *handoff) bool {
			return sim.IndexOf(h.to) == o.Member && h.from == e.Peer && h.token == e.Token
		})
	case policy.NoteStrayCommit:
		if o.Event.Kind == policy.Received {
			k.refuse(o.At, o.Member, o.Event.Msg.Handoff)
		}
	case policy.NoteRan, policy.NoteDenied, policy.NoteResting, policy.NoteOffered, policy.NoteNoAck, policy.NoteTokenAgain,
		policy.NoteInquired, policy.NoteSeen, policy.NoteSuspected, policy.NoteSlotsDiffer, policy.NoteStoodDown, policy.NoteDoubting, policy.NoteStrayWord,
		policy.NoteSeqRefused, policy.NoteBirthRefused, policy.NoteUnanswered, policy.NoteSlowNetwork,
		policy.NoteAckAgain, policy.NoteStrayToken, policy.NoteStrayAck, policy.NoteAlone, policy.NoteWaiting, policy.NoteLeft:
	}
	return false
}

// receive: a handoff ended well. One that was taken for failed has not been: with two handoffs of one token between the
// same two members, a note does not say which of them it was that ended without a Commit.
func (k *custody) receive(o *sim.Occurrence, slot uint8) {
	k.members[o.Member].hands[slot]++
	for i := range k.pending {
		if h := &k.pending[i]; o.Event.Kind == policy.Received && h.id == o.Event.Msg.Handoff && sim.IndexOf(h.to) == o.Member {
			k.forget(i)
			return
		}
	}
	k.lost--
	k.live(o.At, slot)
}

// refuse: a Commit came that the receiver does not wait for any longer.
func (k *custody) refuse(now policy.Time, member int, id wire.HandoffID) {
	k.giveUp(now, func(h *handoff) bool { return h.id == id && sim.IndexOf(h.to) == member })
}

// giveUp ends handoffs without the token.
func (k *custody) giveUp(now policy.Time, which func(*handoff) bool) {
	for i := len(k.pending) - 1; i >= 0; i-- {
		if h := k.pending[i]; which(&k.pending[i]) {
			k.forget(i)
			k.lose(now, h.since, h.token.Slot)
		}
	}
}

func (k *custody) forget(i int) {
	last := len(k.pending) - 1
	k.pending[i] = k.pending[last]
	k.pending = k.pending[:last]
}

func (k *custody) drop(member int, slot uint8) { k.members[member].hands[slot]-- }

// remove: a token is dropped because there is a better one.
func (k *custody) remove(o *sim.Occurrence, slot uint8) {
	k.drop(o.Member, slot)
	k.die(o.At, o.At, slot, true)
	k.removed++
}

// lose: nobody has the token since a moment that may have passed.
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

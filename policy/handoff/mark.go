package handoff

import "github.com/wanderd/wanderd/policy/marks"

// The rare branches: what each says is in [Marks].
const (
	markOfferEnded marks.Mark = iota + 1
	markOfferAgain
	markOfferTooLate
	markOfferRefused
	markSecondOffer
	markCommitLate
	markAckRepeated
	markNoCommit
	markRoomMade
	markAckLate
	markAckAgain
	markAckMeasured
	markNoAck
	markOfferRepeated
	markSlowNetwork
	markAbandoned
	markRefused
	markForgotten
)

// Marks returns the rare branches of a handoff.
func Marks() marks.Names {
	return marks.Names{
		markOfferEnded:    "handoff: an offer comes again whose handoff has ended",
		markOfferAgain:    "handoff: an offer comes again",
		markOfferTooLate:  "handoff: an offer comes again when its receiver is about to give up",
		markOfferRefused:  "handoff: an offer is refused: its receiver leaves, or has too many",
		markSecondOffer:   "handoff: a second offer comes while one is under way",
		markCommitLate:    "handoff: a commit comes too late, or belongs to nothing",
		markAckRepeated:   "handoff: an answer to an offer is repeated",
		markNoCommit:      "handoff: no commit comes",
		markRoomMade:      "handoff: an old handoff ends to make room for a new one",
		markAckLate:       "handoff: an answer to an offer comes too late, or again",
		markAckAgain:      "handoff: an answer comes again, and so does the commit",
		markAckMeasured:   "handoff: a late answer shows that the patience was too short",
		markNoAck:         "handoff: an offer has no answer",
		markOfferRepeated: "handoff: an offer is repeated",
		markSlowNetwork:   "handoff: answers take too long",
		markAbandoned:     "handoff: handoffs under way are abandoned",
		markRefused:       "handoff: a handoff ends because its sender looks for the token",
		markForgotten:     "handoff: a handoff is forgotten because its token has come back",
	}
}

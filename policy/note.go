package policy

import "fmt"

// Note is what a machine has to tell: every rule that fired and every message that was out of place has one.
type Note uint8

const (
	// NoteMinted: the fleet starts, or this member is alone, and it made the first token.
	NoteMinted Note = iota + 1
	// NoteRegenerated: no token came for regenerate-after, and this member made a new one.
	NoteRegenerated
	// NoteInquired: no token came for regenerate-after, and this member asks others before it makes one.
	NoteInquired
	// NoteSeen: Peer has seen Token, later than this member; it waits on.
	NoteSeen
	// NoteArrived: a handoff ended here; this member holds Token, which came from Peer.
	NoteArrived
	// NoteRan: the protected operation starts under Token.
	NoteRan
	// NoteDenied: the start of the operation could not be recorded, or not in time; it does not run, and Token goes on.
	NoteDenied
	// NoteResting: Token is held without a run: this member ran too recently.
	NoteResting
	// NoteOffered: a handoff of Token to Peer begins.
	NoteOffered
	// NotePassed: Peer acknowledged, and this member has given Token up.
	NotePassed
	// NoteNoAck: Peer did not acknowledge in time; this member keeps Token.
	NoteNoAck
	// NoteNoCommit: Peer's Commit did not come in time; this member does not hold Token.
	NoteNoCommit
	// NoteRemoved: Token arrived less than min_interval after a run under one that precedes it, and was discarded.
	NoteRemoved
	// NoteMet: Token met an older one at this member and was discarded.
	NoteMet
	// NoteTokenAgain: a Token message of a handoff in progress or over came again.
	NoteTokenAgain
	// NoteAckAgain: an Ack came again and is answered with the same Commit.
	NoteAckAgain
	// NoteStrayToken: a Token message that cannot be taken: this member is leaving, or has too many handoffs in progress.
	NoteStrayToken
	// NoteStrayAck: an Ack that belongs to no handoff of this member, or to one that failed.
	NoteStrayAck
	// NoteStrayCommit: a Commit that belongs to no handoff of this member, or is bound to another Ack.
	NoteStrayCommit
	// NoteSuspected: nothing was heard of Peer, which holds Token, for a patience; it and the other guardians are asked.
	NoteSuspected
	// NoteRevived: nobody knows of a holder, and this member, a guardian, holds Token again, which Peer held last.
	NoteRevived
	// NoteStoodDown: Peer says that Token was removed; this member guards it no longer.
	NoteStoodDown
	// NoteUnanswered: an offer of Token came to nothing, and nobody at all was heard since it began; the guardians are asked.
	NoteUnanswered
	// NoteYielded: nobody answers this member; it has given Token up and tells the guardians to take it.
	NoteYielded
	// NoteDoubting: this member was away for so long that Token may have been revived; it asks the guardians.
	NoteDoubting
	// NoteOvertaken: Peer knows of a copy of Token with a higher fencing number; the one held here is dropped.
	NoteOvertaken
	// NoteOutdated: Token arrived, but another copy of it with a higher fencing number was seen; it is dropped.
	NoteOutdated
	// NoteSlotsDiffer: Peer knows of another number of slots than this member: their configurations differ.
	NoteSlotsDiffer
	// NoteSlowNetwork: answers, Peer's the last of them, take longer than half of a handoff's timeout: skip is too short for this network.
	NoteSlowNetwork
	// NoteStrayWord: a message between holders and guardians that tells this member nothing new.
	NoteStrayWord
	// NoteSeqRefused: Peer's message is refused: Token has a fencing number that no fleet can have come to yet.
	NoteSeqRefused
	// NoteBirthRefused: Token, of which Peer speaks, was made in the future; its stamp is not taken for the newest.
	NoteBirthRefused
	// NoteAlone: no other member is there; Token stays here.
	NoteAlone
	// NoteWaiting: no other member has been there since this one started, and it waits for somebody.
	NoteWaiting
	// NoteGaveUp: the host was asleep, and Token is given up.
	NoteGaveUp
	// NoteDropped: this member leaves and nobody is there to take Token.
	NoteDropped
	// NoteLeft: nothing keeps this member any longer.
	NoteLeft

	notesEnd
)

// Notes returns every note, for tables of metrics and for tests of coverage.
func Notes() []Note {
	all := make([]Note, 0, notesEnd-1)
	for n := NoteMinted; n < notesEnd; n++ {
		all = append(all, n)
	}
	return all
}

// String returns the note in the form used by logs, metrics and traces.
func (n Note) String() string {
	switch n {
	case NoteMinted:
		return "minted"
	case NoteRegenerated:
		return "regenerated"
	case NoteInquired:
		return "inquired"
	case NoteSeen:
		return "seen"
	case NoteArrived:
		return "arrived"
	case NoteRan:
		return "ran"
	case NoteDenied:
		return "denied"
	case NoteResting:
		return "resting"
	case NoteOffered:
		return "offered"
	case NotePassed:
		return "passed"
	case NoteNoAck:
		return "no_ack"
	case NoteNoCommit:
		return "no_commit"
	case NoteRemoved:
		return "removed"
	case NoteMet:
		return "met_older"
	case NoteTokenAgain:
		return "token_again"
	case NoteAckAgain:
		return "ack_again"
	case NoteStrayToken:
		return "stray_token"
	case NoteStrayAck:
		return "stray_ack"
	case NoteStrayCommit:
		return "stray_commit"
	case NoteSuspected:
		return "suspected"
	case NoteRevived:
		return "revived"
	case NoteStoodDown:
		return "stood_down"
	case NoteUnanswered:
		return "unanswered"
	case NoteYielded:
		return "yielded"
	case NoteDoubting:
		return "doubting"
	case NoteOvertaken:
		return "overtaken"
	case NoteOutdated:
		return "outdated"
	case NoteSlotsDiffer:
		return "slots_differ"
	case NoteSlowNetwork:
		return "slow_network"
	case NoteStrayWord:
		return "stray_word"
	case NoteSeqRefused:
		return "seq_refused"
	case NoteBirthRefused:
		return "birth_refused"
	case NoteAlone:
		return "alone"
	case NoteWaiting:
		return "waiting"
	case NoteGaveUp:
		return "gave_up"
	case NoteDropped:
		return "dropped"
	case NoteLeft:
		return "left"
	case notesEnd:
	}
	return fmt.Sprintf("Note(%d)", uint8(n))
}

package guardian

import "github.com/wanderd/wanderd/policy"

const (
	// NoteSuspected: Peer, which holds Token, was silent for the patience; this member asks it and the other guardians.
	NoteSuspected policy.Note = iota + 32
	// NoteStoodDown: Peer reports that Token was removed; this member no longer keeps a copy.
	NoteStoodDown
	// NoteUnanswered: an offer of Token failed, and no message of any member has come since it began; this member asks
	// the guardians.
	NoteUnanswered
	// NoteDoubting: this member was away for so long that a guardian may have revived Token; it asks the guardians.
	NoteDoubting
	// NoteStrayWord: a message between holder and guardians is outdated.
	NoteStrayWord
	// NoteUnused: a former holder of Token has died, or was stopped, while its host soaked, and the token is not used
	// before that is over. It came from Peer, or Peer was its holder.
	NoteUnused
)

// Notes returns the notes of holders and guardians.
func Notes() policy.Notes {
	return policy.Notes{
		{
			Note: NoteSuspected, Name: "suspected", Level: policy.Info,
			Text: "the token's holder is silent; asking it and the other guardians",
		},
		{
			Note: NoteStoodDown, Name: "stood_down", Level: policy.Debug,
			Text: "the token was removed; guarding it no longer",
		},
		{
			Note: NoteUnanswered, Name: "unanswered", Level: policy.Info,
			Text: "no member answers; asking the token's guardians",
		},
		{
			Note: NoteDoubting, Name: "doubting", Level: policy.Info,
			Text: "was paused or cut off for too long; asking whether the token has another holder",
		},
		{
			Note: NoteStrayWord, Name: "stray_word", Level: policy.Debug,
			Text: "ignored an outdated message about a token",
		},
		{
			Note: NoteUnused, Name: "unused", Level: policy.Info,
			Text: "the agent of a host that soaks is gone; nobody starts before that is over",
		},
	}
}

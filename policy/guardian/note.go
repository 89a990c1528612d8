package guardian

import "github.com/wanderd/wanderd/policy"

const (
	// NoteSuspected: nothing was heard of Peer, which holds Token, for a patience; it and the other guardians are asked.
	NoteSuspected policy.Note = iota + 32
	// NoteStoodDown: Peer says that Token was removed; this member guards it no longer.
	NoteStoodDown
	// NoteUnanswered: an offer of Token came to nothing, and nobody at all was heard since it began; the guardians are asked.
	NoteUnanswered
	// NoteDoubting: this member was away for so long that Token may have been revived; it asks the guardians.
	NoteDoubting
	// NoteStrayWord: a message between holders and guardians that tells this member nothing new.
	NoteStrayWord
)

// Notes returns the notes of holders and guardians.
func Notes() policy.Notes {
	return policy.Notes{
		{Note: NoteSuspected, Name: "suspected", Level: policy.Info, Text: "nothing heard of the token's holder; asking"},
		{Note: NoteStoodDown, Name: "stood_down", Level: policy.Debug, Text: "the token was removed; guarding it no longer"},
		{Note: NoteUnanswered, Name: "unanswered", Level: policy.Info, Text: "no answer from anybody; asking the token's guardians"},
		{Note: NoteDoubting, Name: "doubting", Level: policy.Info, Text: "was away for too long; asking whether the token has another holder"},
		{Note: NoteStrayWord, Name: "stray_word", Level: policy.Debug, Text: "ignored old news of a token"},
	}
}

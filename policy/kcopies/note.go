package kcopies

import "github.com/wanderd/wanderd/policy"

const (
	// NoteCopy: Peer has sent a copy of Token, and this member keeps it.
	NoteCopy policy.Note = iota + 160
	// NoteOldToken: a TOKEN message is old, or not for this member.
	NoteOldToken
	// NoteMayRegenerate: Peer, to which the token was last sent, and all members between Peer and this one have
	// crashed.
	NoteMayRegenerate
	// NoteUsedBackup: the copy has become the real token, which Peer was to hold.
	NoteUsedBackup
)

// Notes returns the notes of k-copies.
func Notes() policy.Notes {
	return policy.Notes{
		{Note: NoteCopy, Name: "copy", Level: policy.Debug, Text: "keeping a copy of the token"},
		{Note: NoteOldToken, Name: "old_token", Level: policy.Debug, Text: "ignored an old message"},
		{
			Note: NoteMayRegenerate, Name: "may_regenerate", Level: policy.Info, Repeats: true,
			Text: "the holder and all backups before this one have crashed",
		},
		{Note: NoteUsedBackup, Name: "used_backup", Level: policy.Warn, Text: "regenerated the token from a copy"},
	}
}

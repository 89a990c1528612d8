package call

import "github.com/wanderd/wanderd/policy"

const (
	// NoteCreated: the fleet starts, or this member is alone, and it made the first token.
	NoteCreated policy.Note = iota + 64
	// NoteRegenerated: no member has the token, and this member made a new one.
	NoteRegenerated
	// NoteRenewed: an operator reported that there is no token, and this member made a new one.
	NoteRenewed
	// NoteArrived: a handoff ended here; this member holds Token, which came from Peer.
	NoteArrived
	// NoteRan: the protected operation starts under Token.
	NoteRan
	// NoteDenied: the start of the operation could not be saved, or not in time.
	NoteDenied
	// NoteResting: Token rests here until it is called.
	NoteResting
	// NoteMet: Token met an older token at this member and was discarded.
	NoteMet
	// NoteRevived: no holder of Token was found. This member, a guardian, has revived it; Peer held it last.
	NoteRevived
	// NoteOvertaken: Peer knows of a copy of Token with a higher fencing number. This member drops its own.
	NoteOvertaken
	// NoteOutdated: Token is refused or dropped, because a copy of it with a higher fencing number is known.
	NoteOutdated
	// NoteDropped: this member leaves, and no other member is there to take Token.
	NoteDropped
	// NoteLeft: this member has left.
	NoteLeft
)

// Notes returns the notes of the gate itself.
func Notes() policy.Notes {
	return policy.Notes{
		{Note: NoteCreated, Name: "minted", Level: policy.Info, Text: "made the first token"},
		{
			Note: NoteRegenerated, Name: "regenerated", Level: policy.Warn,
			Text: "no member has the token; made a new one",
		},
		{
			Note: NoteRenewed, Name: "renewed", Level: policy.Warn,
			Text: "an operator says that the token is lost; made a new one",
		},
		{Note: NoteArrived, Name: "arrived", Level: policy.Debug, Text: "token arrived"},
		{Note: NoteRan, Name: "ran", Level: policy.Debug, Text: "due; the hook may start"},
		{
			Note: NoteDenied, Name: "denied", Level: policy.Error, Denied: true,
			Text: "not running the hook this time; the token goes on",
		},
		{Note: NoteResting, Name: "resting", Level: policy.Debug, Text: "token rests until it is called"},
		{Note: NoteMet, Name: "met_older", Level: policy.Info, Text: "two tokens met; removed the younger"},
		{Note: NoteRevived, Name: "revived", Level: policy.Warn, Text: "the token's holder is lost; revived the token"},
		{
			Note: NoteOvertaken, Name: "overtaken", Level: policy.Warn,
			Text: "the token has another holder; dropped it here",
		},
		{
			Note: NoteOutdated, Name: "outdated", Level: policy.Info,
			Text: "refused a copy of a token that has another holder",
		},
		{Note: NoteDropped, Name: "dropped", Level: policy.Info, Text: "nobody is left to take the token"},
		{Note: NoteLeft, Name: "left", Level: policy.Info, Text: "left the gate"},
	}
}

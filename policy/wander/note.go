package wander

import "github.com/wanderd/wanderd/policy"

const (
	// NoteCreated: the fleet starts, or this member is alone, and it made the first token.
	NoteCreated policy.Note = iota + 64
	// NoteRegenerated: no token came for regenerate-after, and this member made a new one.
	NoteRegenerated
	// NoteInquired: no token came for regenerate-after, or the last holders are gone. This member asks others before it
	// makes one.
	NoteInquired
	// NoteSeen: Peer has seen Token later than this member has, so this member waits longer.
	NoteSeen
	// NoteArrived: a handoff ended here; this member holds Token, which came from Peer.
	NoteArrived
	// NoteRan: the protected operation starts under Token.
	NoteRan
	// NoteDenied: the start of the operation could not be saved, or not in time. It does not run, and Token is passed
	// on.
	NoteDenied
	// NoteOpposed: Peer runs, or is about to. This member holds Token and does not run this time.
	NoteOpposed
	// NoteOverruled: Peer objects to runs here, or wants to go first, for longer than an operation lasts. This member
	// runs.
	NoteOverruled
	// NoteResting: this member holds Token and does not run, because it ran too recently.
	NoteResting
	// NoteRemoved: Token arrived less than min_interval after a run under a token that precedes it, and was discarded.
	NoteRemoved
	// NoteMet: Token met an older token at this member and was discarded.
	NoteMet
	// NoteRevived: no holder of Token was found. This member, a guardian, has revived it; Peer held it last.
	NoteRevived
	// NoteYielded: no member answers this one. It has given Token up and tells the guardians to revive it.
	NoteYielded
	// NoteOvertaken: Peer knows of a copy of Token with a higher fencing number. This member discards its own.
	NoteOvertaken
	// NoteOutdated: Token arrived and is discarded, because a copy of it with a higher fencing number was seen.
	NoteOutdated
	// NoteSlotsDiffer: Peer is configured with another number of slots.
	NoteSlotsDiffer
	// NoteAlone: no other member is there; Token stays here.
	NoteAlone
	// NoteWaiting: this member has seen no other one since it started, and waits for one.
	NoteWaiting
	// NoteGaveUp: the host was asleep, and Token is given up.
	NoteGaveUp
	// NoteDropped: this member leaves, and no other member is there to take Token.
	NoteDropped
	// NoteLeft: this member has left.
	NoteLeft
	// NoteRenewed: an operator reported that there is no token, and this member made a new one.
	NoteRenewed
	// NoteReplaced: all other members answered that they have had no token, and this member made a new one.
	NoteReplaced
	// NoteRetired: fewer tokens are in use, and this member has given up Token, which is one too many.
	NoteRetired
)

// Notes returns the notes of the soft gate itself.
func Notes() policy.Notes {
	return policy.Notes{
		{Note: NoteCreated, Name: "minted", Level: policy.Info, Text: "made the first token"},
		{
			Note: NoteRegenerated, Name: "regenerated", Level: policy.Warn,
			Text: "no token came for regenerate-after; made a new one",
		},
		{
			Note: NoteInquired, Name: "inquired", Level: policy.Info,
			Text: "the token may be lost; asking other members whether they have seen it",
		},
		{
			Note: NoteSeen, Name: "seen", Level: policy.Debug,
			Text: "another member has seen the token; waiting for longer",
		},
		{Note: NoteArrived, Name: "arrived", Level: policy.Debug, Text: "token arrived"},
		{Note: NoteRan, Name: "ran", Level: policy.Debug, Text: "due; the hook may start"},
		{
			Note: NoteDenied, Name: "denied", Level: policy.Error, Denied: true,
			Text: "not running the hook this time; the token goes on",
		},
		{
			Note: NoteOpposed, Name: "opposed", Level: policy.Info,
			Text: "another member runs; not running the hook this time",
		},
		{
			Note: NoteOverruled, Name: "overruled", Level: policy.Warn,
			Text: "a member objects to runs here for longer than an operation takes; running all the same",
		},
		{Note: NoteResting, Name: "resting", Level: policy.Debug, Text: "token rests"},
		{
			Note: NoteRemoved, Name: "removed", Level: policy.Info,
			Text: "removed a token: this member ran recently under an older one",
		},
		{Note: NoteMet, Name: "met_older", Level: policy.Info, Text: "two tokens met; removed the younger"},
		{Note: NoteRevived, Name: "revived", Level: policy.Warn, Text: "the token's holder is lost; revived the token"},
		{
			Note: NoteYielded, Name: "yielded", Level: policy.Warn,
			Text: "no message comes from another member; gave up the token and told its guardians to revive it: " +
				"check that UDP gets through to this host",
		},
		{
			Note: NoteOvertaken, Name: "overtaken", Level: policy.Warn,
			Text: "the token has another holder; dropped it here",
		},
		{
			Note: NoteOutdated, Name: "outdated", Level: policy.Info,
			Text: "dropped a copy of a token that has another holder",
		},
		{
			Note: NoteSlotsDiffer, Name: "slots_differ", Level: policy.Warn, Repeats: true,
			Text: "a member has another number of slots: give all members of a gate the same",
		},
		{
			Note: NoteAlone, Name: "alone", Level: policy.Info, Facts: []policy.Key{policy.KeyNextRun},
			Text: "alone in this gate; keeping the token",
		},
		{
			Note: NoteWaiting, Name: "waiting", Level: policy.Info, Facts: []policy.Key{policy.KeyWaitsForFleet},
			Text: "waiting to see another member (--alone run starts without one)",
		},
		{Note: NoteGaveUp, Name: "gave_up", Level: policy.Warn, Text: "gave up the token after the suspension"},
		{Note: NoteDropped, Name: "dropped", Level: policy.Info, Text: "nobody is left to take the token"},
		{
			Note: NoteRenewed, Name: "renewed", Level: policy.Warn,
			Text: "an operator says that the token is lost; made a new one",
		},
		{
			Note: NoteReplaced, Name: "replaced", Level: policy.Warn,
			Text: "the token's holder and its guardians are gone, and no member has it; made a new one",
		},
		{Note: NoteRetired, Name: "retired", Level: policy.Info, Text: "fewer members: gave up a token too many"},
		{Note: NoteLeft, Name: "left", Level: policy.Info, Text: "left the gate"},
	}
}

package policy

// Cause is how a token came to a member, or why it is not there any more.
type Cause uint8

const (
	// CauseMade: it is a new token.
	CauseMade Cause = iota + 1
	// CauseReceived: a handoff ended here.
	CauseReceived
	// CauseRevived: no member knows of a holder, and this one has kept a copy.
	CauseRevived
	// CauseKept: its grant has outlived an earlier life of this member.
	CauseKept

	// CausePassed: a handoff ended; the token is Peer's, or lost on the way.
	CausePassed
	// CauseRemoved: by a rule of the protocol there must be an older token.
	CauseRemoved
	// CauseMet: an older token is here.
	CauseMet
	// CauseOvertaken: another copy of it has a higher number.
	CauseOvertaken
	// CauseAsleep: the host was asleep, and the others may have gone on without this member.
	CauseAsleep
	// CauseDropped: this member leaves, and no other member is there to take it; or it is one too many.
	CauseDropped
	// CauseYielded: this member hears no other, and has told others that they may take it.
	CauseYielded
)

// String returns one word.
func (c Cause) String() string {
	return Name([]string{
		CauseMade: "made", CauseReceived: "received", CauseRevived: "revived", CausePassed: "passed",
		CauseKept: "kept", CauseRemoved: "removed",
		CauseMet: "met", CauseOvertaken: "overtaken", CauseAsleep: "asleep", CauseDropped: "dropped",
		CauseYielded: "yielded",
	}, c)
}

// Abandons reports whether no member has the token from now on: it was neither passed on nor discarded for a better
// one.
func (c Cause) Abandons() bool {
	return c == CauseAsleep || c == CauseDropped || c == CauseYielded
}

// Discards reports whether the token is gone because another token, or another copy of it, remains.
func (c Cause) Discards() bool {
	return c == CauseRemoved || c == CauseMet || c == CauseOvertaken
}

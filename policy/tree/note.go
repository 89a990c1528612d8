package tree

import "github.com/wanderd/wanderd/policy"

const (
	// NoteCreated: the first site of the roster starts with the token.
	NoteCreated policy.Note = iota + 64
	// NoteRegenerated: no site answered that it is nearer to the token; this site made a new token.
	NoteRegenerated
	// NoteAsksToRegenerate: no site answered that it is nearer to the token; this site waits for the gate's permission
	// to make a new one.
	NoteAsksToRegenerate
	// NoteArrived: Token is here.
	NoteArrived
	// NoteRan: the protected operation starts under Token.
	NoteRan
	// NoteOutdated: Token came, and is discarded: a newer one was here, or this site had heard of one.
	NoteOutdated
	// NoteOvertaken: Token was here, and is discarded: a newer one came, or this site has heard of one.
	NoteOvertaken
	// NoteSuspected: Peer, the closest predecessor, does not answer.
	NoteSuspected
	// NoteBypassed: Peer, the closest predecessor, is no longer a predecessor.
	NoteBypassed
	// NoteConnecting: this site asks Peer to take it as next.
	NoteConnecting
	// NoteSearchPos: all predecessors are silent; this site looks for one by its position.
	NoteSearchPos
	// NoteSearchQueue: a request is not answered; this site looks for the end of the queue.
	NoteSearchQueue
	// NoteLostElection: Peer searches too, and continues alone.
	NoteLostElection
	// NoteConsult: this site asks all sites whether it is their next; the first step of the baseline.
	NoteConsult
	// NoteFailure: this site asks all sites for the holder of the token.
	NoteFailure
	// NoteElection: no site answered that it has the token; this site is a candidate to make one.
	NoteElection
	// NoteRequestAgain: a request was here before.
	NoteRequestAgain
	// NoteNoRoot: a request of Peer has come to the end of the tree, and no site takes it.
	NoteNoRoot
	// NoteLate: a message came too late to be of use.
	NoteLate
	// NoteForeign: a message is not from a site of the roster, or not for this recovery.
	NoteForeign
	// NoteDropped: this member leaves, and no other member can take Token.
	NoteDropped
	// NoteLeft: nothing keeps this member any longer.
	NoteLeft
	// NoteImpossible: a message of Peer has a number that is impossible by this host's clock.
	NoteImpossible
)

func notes() policy.Notes {
	return policy.Notes{
		{Note: NoteCreated, Name: "minted", Level: policy.Info, Text: "made the first token"},
		{Note: NoteRegenerated, Name: "regenerated", Level: policy.Warn, Text: "the token is lost; made a new one"},
		{
			Note: NoteAsksToRegenerate, Name: "asks_to_regenerate", Level: policy.Warn, Repeats: true,
			Text: "no answer from a token's holder; waiting for leave to make a new token",
		},
		{Note: NoteArrived, Name: "arrived", Level: policy.Debug, Text: "token arrived"},
		{Note: NoteRan, Name: "ran", Level: policy.Debug, Text: "the operation may start"},
		{
			Note: NoteOutdated, Name: "outdated", Level: policy.Info,
			Text: "discarded a token that came after a newer one",
		},
		{
			Note: NoteOvertaken, Name: "overtaken", Level: policy.Warn,
			Text: "a newer token was made; discarded the one that was here",
		},
		{
			Note: NoteSuspected, Name: "suspected", Level: policy.Info,
			Text: "the closest predecessor in the queue does not answer",
		},
		{
			Note: NoteBypassed, Name: "bypassed", Level: policy.Info,
			Text: "the closest predecessor in the queue has another successor",
		},
		{
			Note: NoteConnecting, Name: "connecting", Level: policy.Info,
			Text: "asked for a place behind another predecessor",
		},
		{Note: NoteSearchPos, Name: "search_pos", Level: policy.Info, Text: "asking all members for a predecessor"},
		{
			Note: NoteSearchQueue, Name: "search_queue", Level: policy.Info,
			Text: "asking all members for the end of the queue",
		},
		{Note: NoteLostElection, Name: "lost_election", Level: policy.Debug, Text: "another member searches first"},
		{Note: NoteConsult, Name: "consult", Level: policy.Debug, Text: "asking all members for the predecessor"},
		{Note: NoteFailure, Name: "failure", Level: policy.Info, Text: "asking all members for the token"},
		{
			Note: NoteElection, Name: "election", Level: policy.Warn,
			Text: "no holder answers; candidate to make a new token",
		},
		{Note: NoteRequestAgain, Name: "request_again", Level: policy.Debug, Text: "ignored a repeated request"},
		{Note: NoteNoRoot, Name: "no_root", Level: policy.Info, Text: "a request found no end of the queue"},
		{Note: NoteLate, Name: "late", Level: policy.Debug, Text: "ignored a late message"},
		{
			Note: NoteForeign, Name: "foreign", Level: policy.Warn, Repeats: true,
			Text: "ignored a message of another roster or recovery: give all members of a gate the same settings",
		},
		{Note: NoteDropped, Name: "dropped", Level: policy.Info, Text: "nobody is left to take the token"},
		{Note: NoteLeft, Name: "left", Level: policy.Info, Text: "left the gate"},
		{
			Note: NoteImpossible, Name: "impossible", Level: policy.Warn, Repeats: true,
			Text: "ignored a request with a number that cannot be by this host's clock; set the clocks of both hosts",
		},
	}
}

package handoff

import "github.com/wanderd/wanderd/policy"

const (
	// NoteOffered: this member begins a handoff of Token to Peer.
	NoteOffered policy.Note = iota + 1
	// NotePassed: Peer acknowledged, and this member has given Token up.
	NotePassed
	// NoteNoAck: Peer did not acknowledge in time; this member keeps Token.
	NoteNoAck
	// NoteNoCommit: Peer's Commit did not come in time; this member does not hold Token.
	NoteNoCommit
	// NoteTokenAgain: a Token message came again, of a handoff in progress or ended.
	NoteTokenAgain
	// NoteAckAgain: an Ack came again and is answered with the same Commit.
	NoteAckAgain
	// NoteStrayToken: a Token message is refused: this member is leaving, or has too many handoffs in progress.
	NoteStrayToken
	// NoteStrayAck: an Ack belongs to no handoff of this member, or to one that failed.
	NoteStrayAck
	// NoteStrayCommit: a Commit belongs to no handoff of this member, or is bound to another Ack.
	NoteStrayCommit
	// NoteSlowNetwork: answers take longer than half of a handoff's timeout, Peer's most recently: skip is too short
	// for this network.
	NoteSlowNetwork
)

// Notes returns the notes of a handoff.
func Notes() policy.Notes {
	return policy.Notes{
		{Note: NoteOffered, Name: "offered", Level: policy.Debug, Text: "offering the token"},
		{Note: NotePassed, Name: "passed", Level: policy.Debug, Text: "token passed"},
		{Note: NoteNoAck, Name: "no_ack", Level: policy.Info, Text: "no answer; trying another member", Repeats: true},
		{
			Note: NoteNoCommit, Name: "no_commit", Level: policy.Warn, Text: "acknowledged a token, but no commit came",
			Repeats: true,
		},
		{Note: NoteTokenAgain, Name: "token_again", Level: policy.Debug, Text: "answered a repeated message"},
		{Note: NoteAckAgain, Name: "ack_again", Level: policy.Debug, Text: "answered a repeated message"},
		{Note: NoteStrayToken, Name: "stray_token", Level: policy.Debug, Text: "ignored a late message"},
		{Note: NoteStrayAck, Name: "stray_ack", Level: policy.Debug, Text: "ignored a late message"},
		{Note: NoteStrayCommit, Name: "stray_commit", Level: policy.Debug, Text: "ignored a late message"},
		{
			Note: NoteSlowNetwork, Name: "slow_network", Level: policy.Warn, Repeats: true,
			Facts: []policy.Key{policy.KeyRoundTrip, policy.KeyLeastSkip},
			Text: "skip is too short for this network: answers take longer than half of it; " +
				"set skip to least_skip or more, on all members",
		},
	}
}

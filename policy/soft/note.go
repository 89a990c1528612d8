package soft

import "github.com/wanderd/wanderd/policy"

const (
	// NoteSeqRefused: Peer's message is refused, because no fleet can have reached the fencing number of Token yet.
	NoteSeqRefused policy.Note = iota + 120
	// NoteBirthRefused: Token, in a message of Peer, was made in the future. Its stamp does not count as the newest.
	NoteBirthRefused
)

// Notes returns the notes of numbers that are not believed.
func Notes() policy.Notes {
	return policy.Notes{
		{
			Note: NoteSeqRefused, Name: "seq_refused", Level: policy.Warn, Repeats: true,
			Text: "refused a message: its fencing number is higher than any fleet can have reached by this host's " +
				"clock; " +
				"its sender is broken or hostile, or this host's clock is wrong",
		},
		{
			Note: NoteBirthRefused, Name: "birth_refused", Level: policy.Warn, Repeats: true,
			Text: "a token was made more than a day in the future: the clock of the member that made it or of this " +
				"host is wrong",
		},
	}
}

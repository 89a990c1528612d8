package ring

import "github.com/wanderd/wanderd/policy"

const (
	// NoteRan: the critical section starts under Token.
	NoteRan policy.Note = iota + 64
	// NoteDenied: the save of a run's start failed or was too late; the operation does not run, and Token goes on.
	NoteDenied
	// NoteRemade: a call has come back without meeting the token, and this member made Token without a copy.
	NoteRemade
	// NoteImpossible: a message of Peer has a number that is impossible by this host's clock.
	NoteImpossible
)

func notes() policy.Notes {
	return policy.Notes{
		{Note: NoteRan, Name: "ran", Level: policy.Debug, Text: "wanted; the operation may start"},
		{
			Note: NoteDenied, Name: "denied", Level: policy.Error, Denied: true,
			Text: "not running this time; the token goes on",
		},
		{
			Note: NoteImpossible, Name: "impossible", Level: policy.Warn, Repeats: true,
			Text: "ignored a number that cannot be by this host's clock; set the clocks of both hosts",
		},
		{Note: NoteRemade, Name: "remade", Level: policy.Warn, Text: "no member has the token; made a new one"},
	}
}

package strict

import "github.com/wanderd/wanderd/policy"

const (
	// NoteNotRecorded: the start of an operation could not be saved; it does not run this time.
	NoteNotRecorded policy.Note = iota + 192
	// NoteBarred: the roster has changed by more than one member since this member was last here.
	NoteBarred
)

func notes() policy.Notes {
	return policy.Notes{
		{Note: NoteNotRecorded, Name: "not_recorded", Level: policy.Error, Denied: true, Text: "not running this time; the token goes on"},
		{
			Note: NoteBarred, Name: "barred", Level: policy.Error,
			Text: "the roster has changed by more than one member; this member stands aside: change one at a time on all members, or stop the gate everywhere and remove its state",
		},
	}
}

package policy

import "fmt"

// Note is what a machine has to tell to people: every rule that fired and every message that was out of place has one.
// Each package that tells notes numbers its own: the handoff from 1, the guardians from 32, a protocol from 64, the
// pace from 112, a gate around one from 192 on. A [Descriptor] knows them all.
type Note uint8

// Level says how much an operator wants to know of something.
type Level uint8

const (
	// Debug: it happens all the time.
	Debug Level = iota
	// Info: it happens now and then, and is as it should be.
	Info
	// Warn: something is wrong, or was.
	Warn
	// Error: something does not happen that should.
	Error
)

// NoteInfo is what is known of a note.
type NoteInfo struct {
	Note Note
	// Name is the form used by metrics and traces, Text the one for logs.
	Name, Text string
	Level      Level
	// Repeats says that it may come in every skip for as long as its cause lasts.
	Repeats bool
	// Denied says that a run did not start because the shell was too slow: the shell says why.
	Denied bool
	// Facts are those that are told with it. The text of one that is there takes the place of Text.
	Facts []Key
}

// Notes are the notes of one package, or of a protocol.
type Notes []NoteInfo

// Of returns what is known of a note. A note that nobody knows has its number for a name.
func (k Notes) Of(n Note) NoteInfo {
	for i := range k {
		if k[i].Note == n {
			return k[i]
		}
	}
	name := fmt.Sprintf("note_%d", uint8(n))
	return NoteInfo{Note: n, Name: name, Text: name, Level: Info}
}

// Names returns the names of some notes.
func (k Notes) Names(notes []Note) []string {
	names := make([]string, len(notes))
	for i, n := range notes {
		names[i] = k.Of(n).Name
	}
	return names
}

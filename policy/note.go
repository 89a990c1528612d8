package policy

import "fmt"

// Note is a message of a machine to people: every rule that fired and every message that was out of place has one. Each
// package numbers its own notes: the handoff from 1, the guardians from 32, a protocol from 64, the pace from 112, a
// gate around a protocol from 192, the contract from 240. A [Descriptor] lists them all.
type Note uint8

// Level is how important a note is to an operator.
type Level uint8

const (
	// Debug: it happens all the time.
	Debug Level = iota
	// Info: it happens now and then, and is normal.
	Info
	// Warn: something is wrong, or was.
	Warn
	// Error: something that should happen does not.
	Error
)

// NoteInfo describes a note.
type NoteInfo struct {
	Note Note
	// Name is the name used by metrics and traces, Text the text for logs.
	Name, Text string
	Level      Level
	// Repeats is true if the note may come in every skip for as long as its cause lasts.
	Repeats bool
	// Denied is true if a run did not start because the shell was too slow: the shell adds the reason.
	Denied bool
	// Facts are the keys of facts that are told with the note. If such a fact has a text, it replaces Text.
	Facts []Key
}

// Notes are the notes of one package, or of a protocol.
type Notes []NoteInfo

// Of returns the description of a note. An unknown note has its number for a name.
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

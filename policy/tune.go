package policy

// Tunable is a machine whose settings can change while it holds a token or runs.
type Tunable interface {
	// Tune takes the settings of its protocol anew, and reports whether it could: with other members, or another number of tokens, it cannot,
	// and nothing changes. The shell sends Woke afterwards: what rests is looked at again.
	Tune(p Protocol) bool
}

package hook

// Log receives the output of a hook, and the warnings about it.
type Log interface {
	// Line takes a line of the output. stream is stdout or stderr.
	Line(stream, text string)
	// Warn takes a warning and its facts; each fact is a name and a value.
	Warn(text string, facts ...any)
}

// noLog is the log of an operation without one.
type noLog struct{}

func (noLog) Line(string, string) {}
func (noLog) Warn(string, ...any) {}

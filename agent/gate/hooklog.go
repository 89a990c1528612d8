package gate

import (
	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/hook"
)

// hookLog writes the output of a hook, and warnings about it, to the agent's log. Package hook does not import a
// logger: it also starts a hook's guard, and each import makes that start slower.
type hookLog struct{ log zerolog.Logger }

var _ hook.Log = hookLog{}

// Line implements [hook.Log]: what a hook writes to stderr is a warning.
func (l hookLog) Line(stream, text string) {
	level := zerolog.InfoLevel
	if stream == "stderr" {
		level = zerolog.WarnLevel
	}
	l.log.WithLevel(level).Str("stream", stream).Msg(text)
}

// Warn implements [hook.Log].
func (l hookLog) Warn(text string, facts ...any) { l.log.Warn().Fields(facts).Msg(text) }

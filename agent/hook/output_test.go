package hook

import (
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

func drained(t *testing.T, text string) (*output, []entry) {
	t.Helper()
	log := &logged{}
	out := newOutput(testLog{zerolog.New(log)})
	out.drain(strings.NewReader(text), "stdout")
	return out, log.entries(t)
}

func TestEveryLineIsOneEntry(t *testing.T) {
	_, entries := drained(t, "one\r\n\ntwo\nno end")
	var got []string
	for _, e := range entries {
		got = append(got, e.Message)
	}
	if strings.Join(got, "|") != "one||two|no end" {
		t.Errorf("%q", got)
	}
}

func TestALongLineIsCutInPieces(t *testing.T) {
	long := strings.Repeat("x", 2*maxLine+1)
	_, entries := drained(t, long+"\n")
	var whole string
	for _, e := range entries {
		if len(e.Message) > maxLine {
			t.Errorf("a piece of %d bytes", len(e.Message))
		}
		whole += e.Message
	}
	if len(entries) != 3 || whole != long {
		t.Errorf("%d pieces, %d bytes in all", len(entries), len(whole))
	}
}

func TestControlCharactersDoNotReachTheTerminal(t *testing.T) {
	_, entries := drained(t, "a\x1b]0;owned\x07b\tc\u009b\xff é\n")
	if got := entries[0].Message; got != "a\uFFFD]0;owned\uFFFDb\tc\uFFFD\uFFFD é" {
		t.Errorf("%q", got)
	}
}

func TestShortLinesUseUpTheLimitToo(t *testing.T) {
	const lines = 100_000
	out, entries := drained(t, strings.Repeat("\n", lines))
	logged := lines - int(out.linesDropped)
	if logged != maxOutput/minCharge || len(entries) != logged+1 || int(out.bytesDropped) != lines-logged {
		t.Errorf("%d lines logged in %d entries, %d lines and %d bytes dropped", logged, len(entries), out.linesDropped,
			out.bytesDropped)
	}
}

// testLog is the log of an agent.
type testLog struct{ log zerolog.Logger }

func (l testLog) Line(stream, text string) {
	level := zerolog.InfoLevel
	if stream == "stderr" {
		level = zerolog.WarnLevel
	}
	l.log.WithLevel(level).Str("stream", stream).Msg(text)
}

func (l testLog) Warn(text string, facts ...any) { l.log.Warn().Fields(facts).Msg(text) }

package hook

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
)

const (
	// maxLine is the length at which a long line is cut in two, in bytes.
	maxLine = 4 << 10
	// maxOutput is how much of one run's output is logged, in bytes, both streams together.
	maxOutput = 1 << 20
	// tailLines is how many lines of a run's output its result keeps, tailLine how long each may be, in bytes.
	tailLines, tailLine = 10, 200
	// minCharge is the least number of bytes that a line counts as, because a log entry is never just its text.
	minCharge = 64
)

// output passes the operation's output to the log, and drops what exceeds maxOutput. It never stops reading: a hook
// must not block because of its log.
type output struct {
	log Log

	mu                         sync.Mutex
	budget                     int
	linesDropped, bytesDropped int64
	// cut is true if reading ended before the output did.
	cut bool
	// tail is the end of the output, both streams together: at most tailLines lines.
	tail []string
}

func newOutput(log Log) *output { return &output{log: log, budget: maxOutput} }

// drain reads a stream to its end, or to its read deadline.
func (o *output) drain(from io.Reader, stream string) {
	lines := bufio.NewReaderSize(from, maxLine)
	for {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			o.line(line, stream)
		}
		switch {
		case err == nil || errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF):
			return
		default:
			o.mu.Lock()
			o.cut = o.cut || errors.Is(err, os.ErrDeadlineExceeded)
			o.mu.Unlock()
			return
		}
	}
}

func (o *output) line(line []byte, stream string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text := bytes.TrimRight(line, "\r\n")
	o.tail = append(o.tail, printable(text[:min(len(text), tailLine)]))
	o.tail = o.tail[max(0, len(o.tail)-tailLines):]
	charge := max(len(line), minCharge)
	if o.budget < charge {
		if o.linesDropped == 0 {
			o.log.Warn("the hook writes too much: the rest of its output is dropped", "limit", maxOutput)
			o.budget = 0
		}
		o.linesDropped++
		o.bytesDropped += int64(len(line))
		return
	}
	o.budget -= charge
	o.log.Line(stream, printable(text))
}

// printable replaces control characters, because the output may contain a file's name that would control an operator's
// terminal.
func printable(line []byte) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r >= 0x7f && r < 0xa0 {
			return '\uFFFD'
		}
		return r
	}, string(line))
}

package tell

import (
	"bytes"
	"strings"
)

// Tail keeps the last lines of its input.
type Tail struct {
	lines []string
	next  int
	rest  bytes.Buffer
}

// NewTail returns a tail of n lines, n ≥ 1.
func NewTail(n int) *Tail { return &Tail{lines: make([]string, n)} }

// Write takes text. A line counts when it is complete. Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.rest.Write(p)
	for {
		i := bytes.IndexByte(t.rest.Bytes(), '\n')
		if i < 0 {
			return len(p), nil
		}
		t.lines[t.next] = string(t.rest.Next(i + 1))
		t.next = (t.next + 1) % len(t.lines)
	}
}

// String returns the lines that are kept, oldest first.
func (t *Tail) String() string {
	var b strings.Builder
	for i := range t.lines {
		b.WriteString(t.lines[(t.next+i)%len(t.lines)])
	}
	return b.String()
}

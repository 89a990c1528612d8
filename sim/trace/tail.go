package trace

import (
	"bytes"
	"strings"
)

// Tail keeps the last lines of its input.
type Tail struct {
	most  int
	lines []string
	rest  bytes.Buffer
}

// NewTail returns a tail of n lines, n ≥ 1.
func NewTail(n int) *Tail { return &Tail{most: n} }

// Write appends text. A line counts when it is complete. Write never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.rest.Write(p)
	for {
		i := bytes.IndexByte(t.rest.Bytes(), '\n')
		if i < 0 {
			return len(p), nil
		}
		t.lines = append(t.lines, string(t.rest.Next(i+1)))
		t.lines = t.lines[max(len(t.lines)-t.most, 0):]
	}
}

func (t *Tail) String() string { return strings.Join(t.lines, "") }

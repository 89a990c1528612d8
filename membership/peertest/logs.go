package peertest

import (
	"slices"
	"strings"
	"sync"
)

// Logs collects lines.
type Logs struct {
	mu    sync.Mutex
	Lines []string
}

func (l *Logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.Lines = append(l.Lines, string(p))
	return len(p), nil
}

// With returns the lines of a level that contain all of words.
func (l *Logs) With(level string, words ...string) (found []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.Lines {
		if strings.Contains(line, `"level":"`+level+`"`) &&
			!slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) }) {
			found = append(found, line)
		}
	}
	return found
}

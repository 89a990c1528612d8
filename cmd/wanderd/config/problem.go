package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Invalid says everything that is wrong with a configuration, or with another thing that a person has set up.
type Invalid struct {
	// About is that other thing, as "scenario".
	About string
	// Problems are sentences, each of which names a thing and the remedy.
	Problems []string
}

// Error returns the problems, one a line.
func (e *Invalid) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0]
	}
	return fmt.Sprintf("%d problems in the %s\n  %s", len(e.Problems), cmp.Or(e.About, "configuration"),
		strings.Join(e.Problems, "\n  "))
}

// problems collects what is wrong, each thing once.
type problems []string

func (p *problems) add(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !slices.Contains(*p, text) {
		*p = append(*p, text)
	}
}

func (p problems) err() error {
	if len(p) == 0 {
		return nil
	}
	return &Invalid{Problems: p}
}

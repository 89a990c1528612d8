package settings

import (
	"fmt"
	"strings"
)

// Invalid is the error that lists everything that is wrong with what a person has set.
type Invalid struct {
	// About is what was set, as in "configuration".
	About string
	// Problems are sentences, each of which names a thing and the remedy.
	Problems []string
}

func (e *Invalid) Error() string {
	if len(e.Problems) == 1 {
		return e.Problems[0]
	}
	return fmt.Sprintf("%d problems in the %s\n  %s", len(e.Problems), e.About, strings.Join(e.Problems, "\n  "))
}

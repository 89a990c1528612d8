package trace

import (
	"fmt"
	"io"

	"github.com/wanderd/wanderd/sim"
)

// Format is a form in which a run is written.
type Format string

const (
	// FormatText is a [Trace].
	FormatText Format = "text"
	// FormatMermaid is a [Diagram].
	FormatMermaid Format = "mermaid"
)

// ParseFormat reads a format's name. The error lists all names.
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case FormatText, FormatMermaid:
		return f, nil
	}
	return "", fmt.Errorf("unknown format %q: choose %s or %s", name, FormatText, FormatMermaid)
}

// NewWriter returns a watcher that writes a run to w, in the words of a protocol.
func NewWriter(w io.Writer, f Format, words Words) sim.Watcher {
	if f == FormatMermaid {
		return NewDiagram(w, words)
	}
	return NewTrace(w, words)
}

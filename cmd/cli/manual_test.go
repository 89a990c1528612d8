package cli

import (
	"strings"
	"testing"
)

func TestWriteRoff(t *testing.T) {
	var b strings.Builder
	WriteRoff(&b, "One line\nand its second.\n\nFlags:\n  --a-b N\n        What it\n        does.\n\nExamples:\n  "+
		"First.\n      wanderd 'x'\n\n.dot\n")
	want := "One line\nand its second.\n.SH FLAGS\n.TP\n.B \\-\\-a\\-b N\nWhat it\ndoes.\n.SH EXAMPLES\n.nf\n" +
		"  First.\n      wanderd \\(aqx\\(aq\n.fi\n.PP\n\\&.dot\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

package cli

import (
	"cmp"
	"os"

	"golang.org/x/term"
)

// Columns returns the width of the terminal that a stream leads to; 0 if it leads to none, or to one that cannot be
// drawn on.
func Columns(stream any) int {
	file, ok := stream.(*os.File)
	if !ok || os.Getenv("TERM") == "dumb" {
		return 0
	}
	fd := int(file.Fd())
	if !term.IsTerminal(fd) {
		return 0
	}
	columns, _, err := term.GetSize(fd)
	if err != nil || columns <= 0 {
		return 80
	}
	return columns
}

// ChartWidth returns the width of a chart on a stream, in columns: that of the terminal, or the usual one.
func ChartWidth(stream any) int {
	const usual, most = 80, 120
	return min(cmp.Or(Columns(stream), usual), most)
}

package settings

import "fmt"

// Layer is one of the places where values come from; a higher one wins.
type Layer uint8

// The layers, from low to high.
const (
	Nowhere Layer = iota
	Default
	InFile
	InEnvironment
	InFlag
)

// Origin is where a value came from.
type Origin struct {
	Layer Layer
	// Name is the file, the variable or the flag as it is written; for a default, it is the rule that made it.
	Name string
	// Line is the line in the file, counted from 1.
	Line int
}

// String names the place: "--op", "WANDERD_OP", "wanderd.toml:3", "default", "default: the name of the host", "not
// set".
func (o Origin) String() string {
	switch {
	case o.Layer == Nowhere:
		return "not set"
	case o.Layer == InFile:
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	case o.Layer == Default && o.Name == "":
		return "default"
	case o.Layer == Default:
		return "default: " + o.Name
	}
	return o.Name
}

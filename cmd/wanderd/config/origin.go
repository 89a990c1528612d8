package config

import "fmt"

// Layer is one of the places where values come from; a higher one wins.
type Layer uint8

// The layers, from low to high.
const (
	Default Layer = iota
	InFile
	InEnvironment
	InFlag
)

// Origin is where a value came from.
type Origin struct {
	Layer Layer
	// Name is the file, the variable or the flag as it is written; of a default, the rule it was made by.
	Name string
	// Line is the line in the file, counted from 1.
	Line int
}

// String names the place: "--op", "WANDERD_OP", "wanderd.toml:3", "default", "default: the name of the host".
func (o Origin) String() string {
	switch o.Layer {
	case InFile:
		return fmt.Sprintf("%s:%d", o.Name, o.Line)
	case InEnvironment, InFlag:
		return o.Name
	case Default:
	}
	if o.Name == "" {
		return "default"
	}
	return "default: " + o.Name
}

// of begins a message about a setting: the origin, and the key where the origin does not tell it.
func (o Origin) of(s Setting) string {
	if o.Layer == InFlag || o.Layer == InEnvironment {
		return o.String()
	}
	return fmt.Sprintf("%s: %s", o, s.Key)
}

// Package usual has the settings of a gate that agent and simulator share: the names of the policies, how a window is
// written, and the defaults.
package usual

import (
	"time"
	_ "time/tzdata" // 450 KB: a container has no time zones, and a gate would not open there

	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/policy/window"
)

// The policies of a gate.
const (
	PolicyWander = "wander"
	PolicyCall   = "call"
	PolicyRing   = "ring"
	PolicyTree   = "tree"
)

// The defaults of settings that a simulation has, too.
const (
	MinInterval     = "10m"
	MaxIntervalRule = "the longest of 3 × min_interval, 3 × members × op and two laps"
	Skip            = "1s"
	Slots           = "1"
	Backups         = "2"
)

// WalkHelp explains the setting walk, whose default is [Walk].
const WalkHelp = "Where the token goes next: to any other host (random), or once to every host in each lap, in a new " +
	"order for each lap " +
	"(shuffle) or always in the same order (sweep). All hosts should have the same walk."

// Walk returns the default of the setting walk.
func Walk() string { return wander.Sweep.String() }

// OnLost returns the default of the setting on_lost.
func OnLost() string { return soft.Finish.String() }

// ParseWindow reads a window. It prefers this host's time zones to those that the program contains.
func ParseWindow(text string) (window.Window, error) { return window.Parse(text, time.LoadLocation) }

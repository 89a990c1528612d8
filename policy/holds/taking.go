package holds

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// ErrStopped is why a run that was stopped before it held all its gates does not start.
var ErrStopped = errors.New("stopped before it held all its gates")

// Taking is how a run comes to the gates that it needs besides its own. It is a plain value; one without gates holds
// all at once.
type Taking struct {
	gates  []string
	within time.Duration
	// granted is how many of them the run was granted, in their order. The next one is asked for.
	granted int
	// asked is true if the next one is asked for.
	asked bool
	// lost is the first one that was lost, and cannot why the run does not start; both are empty at first.
	lost   string
	cannot error
}

// NewTaking returns what a run needs besides its own gate: gates in the order of [Order], all within a time.
func NewTaking(gates []string, within time.Duration) Taking {
	return Taking{gates: gates, within: within}
}

// Gates are the gates, in the order in which they are taken.
func (t *Taking) Gates() []string { return t.gates }

// Within is the time from the first question after which the run is late.
func (t *Taking) Within() time.Duration { return t.within }

// Ask returns the gate to be asked for now. There is none if one is asked for already, if all were granted, or if the
// run does not start any more.
func (t *Taking) Ask() (gate string, ok bool) {
	if t.asked || t.granted == len(t.gates) || t.cannot != nil || t.lost != "" {
		return "", false
	}
	t.asked = true
	return t.gates[t.granted], true
}

// Asks returns the gate that is asked for; it is empty if none is.
func (t *Taking) Asks() string {
	if !t.asked {
		return ""
	}
	return t.gates[t.granted]
}

// Granted records that the gate that was asked for is held. It reports whether the run still wants it: if not, it is
// let go at once.
func (t *Taking) Granted() bool {
	if !t.asked || t.cannot != nil {
		return false
	}
	t.asked = false
	t.granted++
	return true
}

// Lose records that a gate was lost which the run held. "A lost grant of any of them cuts the run": also before it has
// begun.
func (t *Taking) Lose(gate string) {
	if t.lost == "" {
		t.lost = gate
	}
}

// Holds reports whether the run holds all its gates: "A run starts only when it holds all its gates."
func (t *Taking) Holds() bool { return t.granted == len(t.gates) && t.lost == "" && t.cannot == nil }

// Refuse ends the wait for a gate that this host cannot have.
func (t *Taking) Refuse(why error) error {
	return t.end(fmt.Errorf("gate %q is not to be had: %w", t.Asks(), why))
}

// Late ends a wait that has lasted for too long. "No token is held for longer than with_wait for another."
func (t *Taking) Late() error {
	return t.end(fmt.Errorf("gate %q was not granted within %v", t.Asks(), t.within))
}

// Stop ends the wait because the run is to stop, or because a gate was lost meanwhile.
func (t *Taking) Stop() error {
	if t.lost != "" {
		return t.end(fmt.Errorf("gate %q was lost meanwhile", t.lost))
	}
	return t.end(ErrStopped)
}

func (t *Taking) end(why error) error {
	if t.cannot == nil {
		t.cannot = why
	}
	return t.cannot
}

// Release returns the gates that are to be let go, the last one first: those that were granted, and the one that is
// asked for. After that none is asked for any more.
func (t *Taking) Release() (gates []string) {
	n := t.granted
	if t.asked {
		n++
	}
	_ = t.end(ErrStopped)
	gates = slices.Clone(t.gates[:n])
	slices.Reverse(gates)
	t.asked, t.granted = false, 0
	return gates
}

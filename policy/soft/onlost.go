package soft

import "github.com/wanderd/wanderd/policy"

// OnLost is what to do with a run if its token has another holder.
type OnLost uint8

const (
	// Finish lets the run end by itself: a soft gate may have overlaps, and half an operation may be worse.
	Finish OnLost = iota
	// Stop ends the run at once.
	Stop
)

// String returns the name used in configurations.
func (o OnLost) String() string { return policy.Name([]string{Finish: "finish", Stop: "stop"}, o) }

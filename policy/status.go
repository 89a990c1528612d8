package policy

import (
	"time"

	"github.com/wanderd/wanderd/wire"
)

// Status is one member's view of its gate.
type Status struct {
	// State is the machine's state in one word.
	State string
	// Why says in one word why the protected operation is not running here now; WhyRunning if it is.
	Why Why
	// Holding says that Token is held here; otherwise Token is the last one that was, and LastTo where it went.
	Holding bool
	Token   wire.Token
	LastTo  wire.MemberID
	// Guards says that this member keeps a copy of a token that Holder holds, as far as it has heard; Holder may be zero.
	Guards bool
	Holder wire.MemberID
	// SilentSince is when a token was last here, or known to be elsewhere, or this member started; meaningful unless Holding.
	SilentSince Time
	// HasRun says that LastRun means something.
	HasRun  bool
	LastRun Time
	// NextRun is the earliest time at which a token that arrives makes this member run.
	NextRun Time
	// RegenerateAt is when this member makes a new token if none comes; meaningful if RegenerateArmed.
	RegenerateAt    Time
	RegenerateArmed bool
	// RegenerateAfter is the adaptive Δgen, MaxInterval the Δmax in force.
	RegenerateAfter, MaxInterval time.Duration
	// Lap is what a lap of the token takes, as this member sees it; zero while it does not know.
	Lap time.Duration
	// TooShort names the constant that the operator has set too short for such laps: "max_interval" or "op"; empty if none is.
	TooShort string
	// Op is the Δop in force, and OpSource where it comes from.
	Op       time.Duration
	OpSource OpSource
	// RoundTrip is how long an answer has taken at most, of late; zero if there was none.
	RoundTrip time.Duration
	// Slots are the statuses of all slots of a gate with several tokens; nil where there is one. The rest is then that of
	// the slot under which the operation runs, or which holds its token.
	Slots []Status
}

// OpSource says where Δop, the typical duration of the protected operation, comes from.
type OpSource uint8

const (
	// OpConfigured: the operator says so.
	OpConfigured OpSource = iota
	// OpMeasured: the members have measured their runs.
	OpMeasured
	// OpAssumed: nobody has run yet, or told this member.
	OpAssumed
)

// String returns one word.
func (o OpSource) String() string {
	switch o {
	case OpConfigured:
		return "configured"
	case OpMeasured:
		return "measured"
	case OpAssumed:
		return "assumed"
	}
	return "unknown"
}

// Why is the reason for which a member does not run its operation now.
type Why uint8

const (
	// WhyRunning: it does run.
	WhyRunning Why = iota + 1
	// WhyNoToken: it is due, and waits for the token.
	WhyNoToken
	// WhyTooSoon: min_interval since the last run is not over.
	WhyTooSoon
	// WhyPassing: it is due only after this token has been passed on.
	WhyPassing
	// WhyAlone: it belongs to a fleet of which it has seen nobody since it started.
	WhyAlone
	// WhyLeaving: it is about to stop.
	WhyLeaving
	// WhySaving: it is due, and the start of its run is being recorded.
	WhySaving
)

// String returns a clause that completes "not running because …".
func (w Why) String() string {
	switch w {
	case WhyRunning:
		return "running"
	case WhyNoToken:
		return "due, waiting for the token"
	case WhyTooSoon:
		return "ran less than min_interval ago"
	case WhyPassing:
		return "passing the token on"
	case WhyAlone:
		return "has not seen any other member yet (see --alone)"
	case WhyLeaving:
		return "leaving"
	case WhySaving:
		return "due, recording the start"
	}
	return "unknown"
}

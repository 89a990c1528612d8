package agent

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Observation is one thing that happened at an agent: a note of a gate's machine, or the end of a hook.
type Observation struct {
	At     time.Time
	Member wire.MemberID
	Name   string
	Gate   string
	// Note is what the machine told; zero at the end of a hook, when Ended is set.
	Note  policy.Note
	Peer  wire.MemberID
	Token wire.Token
	// Ended says that the hook is over: Took is how long it ran, Err why it failed (nil if it did not), Stopped that it was
	// told to end early.
	Ended, Stopped bool
	Took           time.Duration
	Err            error
}

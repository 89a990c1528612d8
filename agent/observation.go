package agent

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Observation is one thing that happened at an agent: a token came or went, a hook was granted a run or is over, or a gate's machine
// tells a note.
type Observation struct {
	At     time.Time
	Member wire.MemberID
	Name   string
	Gate   string
	// Note is what the machine tells; zero if it is anything else.
	Note policy.Note
	// Cause is how Token came, if Came is set, or else why it went; zero if none did.
	Cause policy.Cause
	Came  bool
	Peer  wire.MemberID
	Token wire.Token
	// Granted says that the hook may start under Token. Ended follows.
	Granted bool
	// Ended says that the hook is over: Took is how long it ran, Err why it failed (nil if it did not), Stopped that it was
	// told to end early.
	Ended, Stopped bool
	Took           time.Duration
	Err            error
}

// observe shows a machine's effect to the observer.
func (a *Agent) observe(g *gate, now policy.Instant, e *policy.Effect) {
	if a.cfg.Observe != nil {
		a.cfg.Observe(Observation{
			At: time.Unix(0, now.Wall), Member: a.self, Name: a.cfg.Name, Gate: g.cfg.Name,
			Note: e.Note, Cause: e.Cause, Came: e.Kind == policy.Took, Granted: e.Kind == policy.Run, Peer: e.Peer, Token: e.Token,
		})
	}
}

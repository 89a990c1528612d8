package gate

import (
	"time"

	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Observation is one event at an agent: it took or gave a token, a hook was granted a run or has ended, or a gate's
// machine wrote a note.
type Observation struct {
	At     time.Time
	Member wire.MemberID
	Name   string
	Gate   string
	// Note is the machine's note; zero for other events.
	Note policy.Note
	// Cause is why Token came if Came is true, and otherwise why it went; zero for other events.
	Cause policy.Cause
	Came  bool
	Peer  wire.MemberID
	Token wire.Ref
	// Granted is true when the hook may start under Token. An observation with Ended follows.
	Granted bool
	// Ended is true when the hook has ended: Took is how long it ran, Err why it failed (nil if it succeeded), and
	// Stopped is true if it was stopped early.
	Ended, Stopped bool
	Took           time.Duration
	Err            error
}

// observe passes a machine's effect to the observer.
func (g *Gate) observe(now policy.Instant, e *policy.Effect) {
	g.show(Observation{
		At: time.Unix(0, now.Wall), Note: e.Note, Cause: e.Cause, Peer: e.Peer, Token: e.Token,
		Came: e.Kind == policy.Took, Granted: e.Kind == policy.Run,
	})
}

// observeEnd passes the end of a run to the observer.
func (g *Gate) observeEnd(r *hook.Result) {
	g.show(Observation{At: time.Now(), Ended: true, Stopped: r.Stopped, Took: r.Took, Err: r.Err})
}

func (g *Gate) show(o Observation) {
	if g.env.Observe != nil {
		o.Member, o.Name, o.Gate = g.env.Self, g.env.Name, g.cfg.Name
		g.env.Observe(o)
	}
}

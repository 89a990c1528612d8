package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// CommitChecker checks that "the sender answers a repeated Ack with the same Commit": a member repeats its last Commit when the same
// Ack comes again within a timeout. Otherwise one lost datagram would lose the token. One that has revived the token meanwhile does not:
// there would be two holders.
type CommitChecker struct {
	timeout time.Duration
	// last is each member's last Commit, revived the last token that it has revived.
	last    map[int]committed
	revived map[int]wire.Ref
}

// committed is a Commit and the time at which it was first sent.
type committed struct {
	at  policy.Time
	msg wire.Message
}

// answers reports whether a Commit is the answer to an Ack.
func (k *committed) answers(ack *wire.Message) bool {
	return k.msg.Exchange == ack.Exchange && k.msg.To == ack.From && k.msg.Nonce == ack.Nonce && k.msg.Token == ack.Token
}

// NewCommitChecker returns a checker of one run in which a handoff takes less than timeout.
func NewCommitChecker(timeout time.Duration) *CommitChecker {
	return &CommitChecker{timeout: timeout, last: map[int]committed{}, revived: map[int]wire.Ref{}}
}

// Watch implements [sim.Watcher].
func (k *CommitChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() {
		delete(k.last, o.Member)
		delete(k.revived, o.Member)
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	var sent *wire.Message
	kinds := c.Family().Kinds
	first := false
	for i := range o.Effects {
		e := &o.Effects[i]
		if e.Kind == policy.Send && kinds.Part(e.Msg.Kind) == policy.Passes {
			sent = &e.Msg
		}
		first = first || e.Kind == policy.Gave && e.Cause == policy.CausePassed
		if e.Kind == policy.Took && e.Cause == policy.CauseRevived {
			k.revived[o.Member] = e.Token
			delete(k.last, o.Member)
		}
	}
	if t, ok := k.revived[o.Member]; ok && sent != nil && sent.Token.ID == t.Bare().ID && sent.Token.Seq < t.Seq {
		return fmt.Errorf("handoff: %s has revived a token as number %d, and commits number %d", sim.MemberName(o.Member), t.Seq, sent.Token.Seq)
	}
	last, known := k.last[o.Member]
	if o.Event.Kind == policy.Received && kinds.Part(o.Event.Msg.Kind) == policy.Accepts {
		again := known && last.answers(&o.Event.Msg) && o.At.Sub(last.at) < k.timeout
		if again && sent == nil && o.Completes() {
			return fmt.Errorf("handoff: %s gets the Ack again that it committed to %v ago, and does not repeat its Commit",
				sim.MemberName(o.Member), o.At.Sub(last.at))
		}
	}
	if sent != nil && first {
		k.last[o.Member] = committed{at: o.At, msg: *sent}
	}
	return nil
}

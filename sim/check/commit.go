package check

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// lastCommit is a member's last Commit, when it was first sent, and the last token that the member has revived.
type lastCommit struct {
	at      policy.Time
	msg     wire.Message
	revived wire.Ref
}

func (k *lastCommit) answers(ack *wire.Message) bool {
	return k.msg.Exchange == ack.Exchange && k.msg.To == ack.From && k.msg.Nonce == ack.Nonce &&
		k.msg.Token == ack.Token
}

// NewCommitChecker checks that "the sender answers a repeated Ack with the same Commit": a member repeats its last
// Commit when the same Ack comes again within a timeout, which is longer than a handoff takes. Otherwise one lost
// datagram would lose the token. A member that has revived the token meanwhile does not repeat it: there would be two
// holders.
//
//go:noinline
func NewCommitChecker(timeout time.Duration) sim.Watcher {
	return sim.EachLife(func(last *lastCommit, c *sim.Cluster, o *sim.Occurrence) error {
		kinds := c.Descriptor().Kinds
		var sent *wire.Message
		for e := range o.Did(policy.Send) {
			if kinds.Part(e.Msg.Kind) == policy.Passes {
				sent = &e.Msg
			}
		}
		for e := range o.Did(policy.Took) {
			if e.Cause == policy.CauseRevived {
				*last = lastCommit{revived: e.Token}
			}
		}
		if t := last.revived; sent != nil && sent.Token.ID == t.Bare().ID && sent.Token.Seq < t.Seq {
			return fmt.Errorf("handoff: %s has revived a token as number %d, and commits number %d", o.Who(), t.Seq,
				sent.Token.Seq)
		}
		if o.On(policy.Received) && kinds.Part(o.Event.Msg.Kind) == policy.Accepts {
			again := last.answers(&o.Event.Msg) && o.At.Sub(last.at) < timeout
			if again && sent == nil && o.Completes() {
				return fmt.Errorf("handoff: %s gets the Ack again that it committed to %v ago, and does not repeat "+
					"its Commit", o.Who(), o.At.Sub(last.at))
			}
		}
		for e := range o.Did(policy.Gave) {
			if sent != nil && e.Cause == policy.CausePassed {
				last.at, last.msg = o.At, *sent
			}
		}
		return nil
	})
}

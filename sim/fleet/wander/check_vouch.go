package wander

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// NewVouchChecker checks that a member that runs tells this to all members that ask for a token, even if it has lost
// its own. While others can hear of a run, no guardian revives a token, and no member makes one.
//
//go:noinline
func NewVouchChecker() sim.Watcher {
	return sim.WatcherFunc(func(c *sim.Cluster, o *sim.Occurrence) error {
		if o.Kind != sim.Stepped || !o.Completes() || !o.On(policy.Received) {
			return nil
		}
		asked := o.Event.Msg.Kind
		if asked != guardian.KindAsk && asked != wander.KindInquiry || c.Status(o.Member).Phase != "running" {
			return nil
		}
		for e := range o.Did(policy.Send) {
			if e.Msg.Exchange == o.Event.Msg.Exchange && !vouches(asked, &e.Msg) {
				return fmt.Errorf("vouch: %s runs, and answers as if it did not: %v", sim.MemberName(o.Member), &e.Msg)
			}
		}
		return nil
	})
}

// vouches reports whether an answer keeps the asker from taking the token for lost.
func vouches(asked wire.Kind, answer *wire.Message) bool {
	switch answer.Kind {
	case guardian.KindTombstone: // A token that was removed is not revived.
		return true
	case guardian.KindHeartbeat:
		return asked == guardian.KindAsk
	case guardian.KindHeard:
		return asked == guardian.KindAsk && answer.Nonce == 1
	case wander.KindSeen:
		return asked == wander.KindInquiry && answer.Nonce == 1
	}
	return false
}

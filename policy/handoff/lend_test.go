package handoff_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/handoff"
)

// "r = what the sender had left when it had that Ack" (rule 8 of a strict gate). A repeated Commit lends nothing.
func TestACommitSaysWhatTheSenderHadLeftWhenItHadTheAck(t *testing.T) {
	for name, tc := range map[string]struct{ lease, want time.Duration }{
		"a lease":              {5 * time.Second, 5*time.Second - 30*time.Millisecond},
		"a lease that is over": {20 * time.Millisecond, 0},
		"none":                 {0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t)
			p.now = p.now.Add(time.Hour)
			p.offer()
			if tc.lease > 0 {
				p.ann.h.Lend(p.now.Add(tc.lease))
			}
			p.stop(10 * time.Millisecond)
			p.deliver(handoff.KindToken)
			p.stop(20 * time.Millisecond)
			ack := p.deliver(handoff.KindAck)
			p.stop(time.Millisecond)
			p.receive(ack)
			for _, want := range []time.Duration{tc.want, 0} {
				commit := p.take(handoff.KindCommit)
				if !handoff.WellFormed(&commit) {
					t.Errorf("the Commit is not well-formed: %+v", commit)
				}
				var o handoff.Outcome
				bob := p.bob.h // A copy: it has not had the other Commit.
				bob.Receive(p.now, &commit, &o, nil)
				if o.Ending != handoff.Arrived || o.Left != want || o.Took != 21*time.Millisecond {
					t.Errorf("the outcome is %v with %v left after %v, want %v after 21ms", o.Ending, o.Left, o.Took,
						want)
				}
			}
		})
	}
}

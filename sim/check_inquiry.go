package sim

import (
	"fmt"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// InquiryChecker holds that nobody makes a new token for a silence of its own: a member with guardians asks others first,
// waits for their answers, and does nothing if one of them has seen a token less than regenerate-after ago.
type InquiryChecker struct {
	wait time.Duration
	// asked is when a member last asked, seen the latest time at which one says that it saw a token.
	asked, seen map[int]policy.Time
	// others is how many others a member sees.
	others map[int]int
}

// NewInquiryChecker returns a checker of one run in which answers are waited for so long.
func NewInquiryChecker(wait time.Duration) *InquiryChecker {
	return &InquiryChecker{wait: wait, asked: map[int]policy.Time{}, seen: map[int]policy.Time{}, others: map[int]int{}}
}

// Watch checks one step.
func (k *InquiryChecker) Watch(c *Cluster, o *Occurrence) error {
	if o.Ends() {
		delete(k.asked, o.Member)
		delete(k.seen, o.Member)
		delete(k.others, o.Member)
	}
	if o.Kind != Stepped {
		return nil
	}
	if o.Event.Kind == policy.PeersChanged {
		k.others[o.Member] = len(o.Event.Peers) - 1
	}
	if m := &o.Event.Msg; o.Event.Kind == policy.Received && m.Kind == wire.KindSeen && o.Expected {
		k.seen[o.Member] = max(k.seen[o.Member], o.At.Add(-time.Duration(m.Nonce)))
	}
	for i := range o.Effects {
		e := &o.Effects[i]
		if e.Kind != policy.Tell {
			continue
		}
		if e.Note == policy.NoteInquired {
			k.asked[o.Member] = o.At
		}
		if e.Note == policy.NoteRegenerated {
			if err := k.regenerate(c, o); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *InquiryChecker) regenerate(c *Cluster, o *Occurrence) error {
	if k.others[o.Member] <= 0 {
		return nil
	}
	asked, ok := k.asked[o.Member]
	if !ok || o.At.Sub(asked) < k.wait {
		return fmt.Errorf("inquiry: %s makes a token and has not asked, or not waited for the answers", MemberName(o.Member))
	}
	if !o.Completes() {
		return nil
	}
	// The status has the value that was raised by half for the next time.
	after := c.Status(o.Member).RegenerateAfter * 2 / 3
	if seen, ok := k.seen[o.Member]; ok && o.At.Sub(seen) < after-time.Microsecond {
		return fmt.Errorf("inquiry: %s makes a token and was told of one %v ago", MemberName(o.Member), o.At.Sub(seen))
	}
	return nil
}

package wander

import (
	"fmt"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
)

// InquiryChecker checks that no member makes a token for its own silence only. Where tokens have guardians, it asks others first, waits
// for their answers, and makes none if one of them has seen a token less than regenerate-after ago. And only the first in rank makes
// the first token of a fleet without asking.
type InquiryChecker struct {
	wait    time.Duration
	guarded bool
	// asked is when a member last asked, seen the latest sighting that it was told.
	asked, seen map[int]policy.Time
	// rank is a member's place among those that it sees. A member that is alone has no entry.
	rank map[int]int
}

// NewInquiryChecker returns a checker of one run. A member waits for answers for wait; guarded says that tokens have guardians.
func NewInquiryChecker(wait time.Duration, guarded bool) *InquiryChecker {
	return &InquiryChecker{
		wait: wait, guarded: guarded, asked: map[int]policy.Time{}, seen: map[int]policy.Time{}, rank: map[int]int{},
	}
}

// Watch implements [sim.Watcher].
func (k *InquiryChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() {
		delete(k.asked, o.Member)
		delete(k.seen, o.Member)
		delete(k.rank, o.Member)
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	if o.Event.Kind == policy.PeersChanged {
		k.view(c, o)
	}
	if m := &o.Event.Msg; o.Event.Kind == policy.Received && m.Kind == wander.KindSeen && o.Expected {
		k.seen[o.Member] = max(k.seen[o.Member], o.At.Add(-time.Duration(m.Nonce)))
	}
	for i := range o.Effects {
		if o.Effects[i].Kind != policy.Tell {
			continue
		}
		if err := k.note(c, o, o.Effects[i].Note); err != nil {
			return err
		}
	}
	return nil
}

func (k *InquiryChecker) view(c *sim.Cluster, o *sim.Occurrence) {
	delete(k.rank, o.Member)
	if len(o.Event.Peers) > 1 {
		k.rank[o.Member] = slices.Index(o.Event.Peers, c.ID(o.Member))
	}
}

func (k *InquiryChecker) note(c *sim.Cluster, o *sim.Occurrence, n policy.Note) error {
	rank, company := k.rank[o.Member]
	switch {
	case n == wander.NoteInquired:
		k.asked[o.Member] = o.At
	case n == wander.NoteMinted && rank > 0:
		return k.hasAsked(c, o)
	case n == wander.NoteRegenerated && company && k.guarded:
		return k.regenerate(c, o)
	}
	return nil
}

// hasAsked checks that a member has asked and waited, longer where round trips are longer, and that this was not long ago.
func (k *InquiryChecker) hasAsked(c *sim.Cluster, o *sim.Occurrence) error {
	wait := max(k.wait, Detail(c, o.Member).RoundTrip*3/2)
	asked, ok := k.asked[o.Member]
	if since := o.At.Sub(asked); !ok || since < k.wait || since >= 2*wait {
		return fmt.Errorf("inquiry: %s makes a token and has not asked, or not waited for the answers", sim.MemberName(o.Member))
	}
	return nil
}

func (k *InquiryChecker) regenerate(c *sim.Cluster, o *sim.Occurrence) error {
	if err := k.hasAsked(c, o); err != nil || !o.Completes() {
		return err
	}
	// The status has the next value, raised by half.
	after := Detail(c, o.Member).RegenerateAfter * 2 / 3
	if seen, ok := k.seen[o.Member]; ok && o.At.Sub(seen) < after-time.Microsecond {
		return fmt.Errorf("inquiry: %s makes a token and was told of one %v ago", sim.MemberName(o.Member), o.At.Sub(seen))
	}
	return nil
}

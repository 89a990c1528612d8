package wander

import (
	"fmt"
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// MissedChecker checks that in a walk that goes round, a member that could not be reached is left to the next holders: it is on the
// token's list from then on, unless it was on the list before. The list counts the tries.
type MissedChecker struct {
	// came is each member's last token, as it came. failed are the members that have not answered its offers since.
	came   map[int]arrival
	failed map[int][]wire.MemberID
	offers offers
}

// arrival is a token as it came to a member. How a revived one came is known to the member alone.
type arrival struct {
	id   wire.TokenID
	load wire.Load
}

// NewMissedChecker returns a checker of one run.
func NewMissedChecker() *MissedChecker {
	return &MissedChecker{came: map[int]arrival{}, failed: map[int][]wire.MemberID{}, offers: offers{}}
}

// Watch implements [sim.Watcher].
func (k *MissedChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Kind != sim.Stepped {
		return nil
	}
	defer k.offers.watch(o)
	for i := range o.Effects {
		e := &o.Effects[i]
		if e.Kind != policy.Tell {
			continue
		}
		switch note := e.Note; {
		case note == wander.NoteRevived:
			delete(k.came, o.Member)
		case note == wander.NoteArrived || note == wander.NoteMinted || note == wander.NoteRegenerated:
			k.came[o.Member] = arrival{id: e.Token.ID, load: k.offers[o.Event.Msg.Exchange]}
			k.failed[o.Member] = k.failed[o.Member][:0]
		case note == handoff.NoteNoAck:
			if err := k.miss(c, o, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// miss checks that a member that did not answer an offer is left to the next holders.
func (k *MissedChecker) miss(c *sim.Cluster, o *sim.Occurrence, e *policy.Effect) error {
	hint := e.Peer.Hint()
	came := k.came[o.Member]
	// If another token has come since and was discarded, it is not known how the held one came.
	first := came.id == e.Token.ID && !lists(&came.load, hint) && !slices.Contains(k.failed[o.Member], e.Peer)
	k.failed[o.Member] = append(k.failed[o.Member], e.Peer)
	s := Detail(c, o.Member)
	full := wander.RouteOf(&s.Load).Tries[wander.MaxMissed-1] > 0
	if first && o.Completes() && s.Holding && s.Token.ID == e.Token.ID && !lists(&s.Load, hint) && !full {
		return fmt.Errorf("missed: %s has not reached %s and leaves it to nobody", sim.MemberName(o.Member), sim.MemberName(sim.IndexOf(e.Peer)))
	}
	return nil
}

// lists reports whether a member is on the list.
func lists(l *wire.Load, hint uint32) bool {
	r := wander.RouteOf(l)
	for i := range r.Missed {
		if r.Tries[i] > 0 && r.Missed[i] == hint {
			return true
		}
	}
	return false
}

// offers are the loads of the tokens that are on offer, by their handoffs: what a Commit lets arrive is what the Token carried.
type offers map[wire.Exchange]wire.Load

// watch follows one step.
func (k offers) watch(o *sim.Occurrence) {
	for i := range o.Effects {
		if e := &o.Effects[i]; e.Kind == policy.Send && e.Msg.Kind == handoff.KindToken {
			k[e.Msg.Exchange] = e.Msg.Load
		}
	}
	if o.Event.Kind == policy.Received && o.Event.Msg.Kind == handoff.KindCommit {
		delete(k, o.Event.Msg.Exchange)
	}
}

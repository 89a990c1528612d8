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

// missed is a member's last token, as it came, and the members that have not answered its offers since. (How a revived
// token came is known to the member alone.)
type missed struct {
	id     wire.TokenID
	load   wire.Load
	failed []wire.MemberID
}

// NewMissedChecker checks a rule of walks that go round: if a member could not be reached, the holder leaves it to the
// next holders. The member is on the token's list from then on, unless it was on the list before. The list counts the
// tries.
//
//go:noinline
func NewMissedChecker() sim.Watcher {
	offers := offers{}
	return sim.EachMember(func(me *missed, c *sim.Cluster, o *sim.Occurrence) error {
		if o.Kind != sim.Stepped {
			return nil
		}
		defer offers.watch(o)
		for e := range o.Did(policy.Tell) {
			switch note := e.Note; {
			case note == wander.NoteRevived:
				me.id = wire.TokenID{}
			case note == wander.NoteArrived || note == wander.NoteCreated || note == wander.NoteRegenerated ||
				note == wander.NoteRenewed || note == wander.NoteReplaced:
				*me = missed{e.Token.ID, offers[o.Event.Msg.Exchange], me.failed[:0]}
			case note == handoff.NoteNoAck:
				if err := me.miss(c, o, e); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// miss checks that a holder leaves to the next holders a member that did not answer its offer.
func (me *missed) miss(c *sim.Cluster, o *sim.Occurrence, e *policy.Effect) error {
	hint := e.Peer.Hint()
	// If another token has come since and was discarded, it is unknown how the held one came.
	first := me.id == e.Token.ID && !lists(&me.load, hint) && !slices.Contains(me.failed, e.Peer)
	me.failed = append(me.failed, e.Peer)
	s := Detail(c, o.Member)
	full := wander.RouteOf(&s.Load).Tries[wander.MaxMissed-1] > 0
	if first && o.Completes() && s.Holding && s.Token.ID == e.Token.ID && !lists(&s.Load, hint) && !full {
		return fmt.Errorf("missed: %s has not reached %s and leaves it to nobody", o.Who(),
			sim.MemberName(sim.IndexOf(e.Peer)))
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

// offers are the loads of the tokens that are on offer, by their handoffs: a Commit lets the load arrive that the Token
// carried.
type offers map[wire.Exchange]wire.Load

// watch follows one step.
func (k offers) watch(o *sim.Occurrence) {
	for e := range o.Did(policy.Send) {
		if e.Msg.Kind == handoff.KindToken {
			k[e.Msg.Exchange] = e.Msg.Load
		}
	}
	if o.On(policy.Received) && o.Event.Msg.Kind == handoff.KindCommit {
		delete(k, o.Event.Msg.Exchange)
	}
}

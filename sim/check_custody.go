package sim

import (
	"fmt"
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// CustodyChecker holds that no token comes from nowhere and none vanishes without a reason: whoever holds a token that it
// did not hold before has made it, has revived it or was sent its Commit, and whoever has lost one says how.
type CustodyChecker struct{ held map[int]wire.TokenID }

// NewCustodyChecker returns a checker of one run.
func NewCustodyChecker() *CustodyChecker { return &CustodyChecker{held: map[int]wire.TokenID{}} }

// Watch checks one step.
func (k *CustodyChecker) Watch(c *Cluster, o *Occurrence) error {
	if id, ok := k.held[o.Member]; ok && o.Kind == Departed {
		return fmt.Errorf("custody: %s leaves with %v", MemberName(o.Member), id)
	}
	if o.Kind == Crashed {
		delete(k.held, o.Member)
	}
	if !o.Completes() {
		return nil
	}
	return k.step(o, c.Status(o.Member))
}

func (k *CustodyChecker) step(o *Occurrence, s *policy.Status) error {
	was, had := k.held[o.Member]
	if had && (!s.Holding || s.Token.ID != was) {
		if !tells(o, was, policy.NotePassed, policy.NoteMet, policy.NoteGaveUp, policy.NoteYielded, policy.NoteDropped, policy.NoteOvertaken) {
			return fmt.Errorf("custody: %v vanishes from %s", was, MemberName(o.Member))
		}
		delete(k.held, o.Member)
	}
	if s.Holding && (!had || s.Token.ID != was) {
		made := tells(o, s.Token.ID, policy.NoteMinted, policy.NoteRegenerated, policy.NoteRevived)
		committed := tells(o, s.Token.ID, policy.NoteArrived) && o.Event.Kind == policy.Received &&
			o.Event.Msg.Kind == wire.KindCommit && sameToken(o.Event.Msg.Token.ID, s.Token.ID)
		if !made && !committed {
			return fmt.Errorf("custody: %v appears at %s", s.Token.ID, MemberName(o.Member))
		}
		k.held[o.Member] = s.Token.ID
	}
	return nil
}

// tells reports whether a step told one of these notes about a token.
func tells(o *Occurrence, id wire.TokenID, notes ...policy.Note) bool {
	for i := range o.Effects {
		e := &o.Effects[i]
		if e.Kind == policy.Tell && e.Token.ID == id && slices.Contains(notes, e.Note) {
			return true
		}
	}
	return false
}

package check

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// HandoffChecker checks the property of the handoff: "when both partners leave the protocol, at most one holds the token"
// (Ciuffoletti, section 4). The sender gives the token up before its first Commit leaves, so this holds in every state, not
// only when both have left: no two members hold one token, and no sender holds the token of a Commit under way. A revived token
// counts as another one.
type HandoffChecker struct {
	copies Copies
	// holder is the member that holds a copy, held the copy that a member holds.
	holder, held map[int]int
}

// NewHandoffChecker returns a checker of one run.
func NewHandoffChecker() *HandoffChecker {
	return &HandoffChecker{copies: NewCopies(), holder: map[int]int{}, held: map[int]int{}}
}

// Watch implements [sim.Watcher].
func (k *HandoffChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	k.copies.Watch(o)
	if o.Ends() {
		k.release(o.Member)
	}
	if !o.Completes() {
		return nil
	}
	return k.step(c, o, c.Status(o.Member))
}

func (k *HandoffChecker) step(c *sim.Cluster, o *sim.Occurrence, s *policy.Status) error {
	for i := range o.Effects {
		e := &o.Effects[i]
		commits := e.Kind == policy.Send && c.Family().Kinds.Part(e.Msg.Kind) == policy.Passes
		// A Commit with another number is of an earlier handoff; the token has come back since.
		if commits && s.Holding && SameToken(e.Msg.Token.ID, s.Token.ID) && e.Msg.Token.Seq == s.Token.Seq {
			return fmt.Errorf("handoff: %s sends the Commit of %v and holds it still", sim.MemberName(o.Member), s.Token.ID)
		}
	}
	is := k.copies.Of(o.Member)
	if was, ok := k.held[o.Member]; ok && s.Holding && was == is {
		return nil
	}
	k.release(o.Member)
	if !s.Holding {
		return nil
	}
	if other, ok := k.holder[is]; ok {
		return fmt.Errorf("handoff: %s and %s both hold %v", sim.MemberName(other), sim.MemberName(o.Member), s.Token.ID)
	}
	k.holder[is], k.held[o.Member] = o.Member, is
	return nil
}

func (k *HandoffChecker) release(member int) {
	if copied, ok := k.held[member]; ok {
		delete(k.holder, copied)
		delete(k.held, member)
	}
}

// SameToken reports whether a message whose generator is NULL speaks of a token.
func SameToken(null, id wire.TokenID) bool { return null.Birth == id.Birth && null.Random == id.Random }

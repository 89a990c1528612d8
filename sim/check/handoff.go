package check

import (
	"fmt"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// NewHandoffChecker checks the property of the handoff: "when both partners leave the protocol, at most one holds the
// token" (Ciuffoletti, section 4). The sender gives the token up before its first Commit leaves, so this holds in every
// state, not only when both have left: no two members hold one token, and no sender holds the token of a Commit under
// way. A revived token counts as another token.
//
//go:noinline
func NewHandoffChecker() sim.Watcher {
	copies := NewCopies()
	// holder is the member that holds each copy.
	holder := map[int]int{}
	return sim.EachMember(func(held *int, c *sim.Cluster, o *sim.Occurrence) error {
		copies.Watch(o)
		if o.Ends() {
			delete(holder, *held)
			*held = 0
		}
		if !o.Completes() {
			return nil
		}
		s := c.Status(o.Member)
		for e := range o.Did(policy.Send) {
			// A Commit with another number belongs to an earlier handoff. The token has come back since.
			commits := c.Descriptor().Kinds.Part(e.Msg.Kind) == policy.Passes &&
				SameToken(e.Msg.Token.ID, s.Token.ID) && e.Msg.Token.Seq == s.Token.Seq
			if commits && s.Holding {
				return fmt.Errorf("handoff: %s sends the Commit of %v and holds it still", o.Who(), s.Token.ID)
			}
		}
		is := 0
		if s.Holding {
			is = copies.Of(o.Member)
		}
		if is == *held {
			return nil
		}
		delete(holder, *held)
		*held = is
		if is == 0 {
			return nil
		}
		if other, ok := holder[is]; ok {
			return fmt.Errorf("handoff: %s and %s both hold %v", sim.MemberName(other), o.Who(), s.Token.ID)
		}
		holder[is] = o.Member
		return nil
	})
}

// SameToken reports whether null, from a message whose generator is NULL, names the token id.
func SameToken(null, id wire.TokenID) bool { return null.Birth == id.Birth && null.Random == id.Random }

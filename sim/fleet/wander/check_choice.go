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

// NewChoiceChecker checks that a token has all its guardians from the moment at which it comes to a member: as many as
// configured, or all the others that its holder sees. Members that have failed the holder do not count: it may avoid
// them.
//
//go:noinline
func NewChoiceChecker(backups int) sim.Watcher {
	// view are the members that one member sees. failed are those of them that have failed it since its start.
	type company struct{ view, failed []wire.MemberID }
	return sim.EachLife(func(me *company, c *sim.Cluster, o *sim.Occurrence) error {
		if o.On(policy.PeersChanged) {
			me.view = o.Event.Peers
		}
		var came wire.TokenID
		for e := range o.Did(policy.Tell) {
			if e.Note == handoff.NoteNoAck || e.Note == wander.NoteRevived {
				me.failed = append(me.failed, e.Peer)
			}
			if comes(e.Note) {
				came = e.Token.ID
			}
		}
		if came.IsZero() || !o.Completes() {
			return nil
		}
		s := Detail(c, o.Member)
		if !s.Holding || s.Token.ID != came {
			return nil
		}
		there := 0
		for _, id := range me.view {
			if id != c.ID(o.Member) && !slices.Contains(me.failed, id) {
				there++
			}
		}
		trail := s.Trail()
		if want := min(backups, there); trail.Len() < want {
			return fmt.Errorf("choice: %s takes a token that %d keep, and sees %d others of whom %d were to", o.Who(),
				trail.Len(), there, want)
		}
		return nil
	})
}

// comes reports whether a note means that a token comes to a member.
func comes(n policy.Note) bool {
	return n == wander.NoteArrived || n == wander.NoteRevived || n == wander.NoteCreated ||
		n == wander.NoteRegenerated || n == wander.NoteRenewed || n == wander.NoteReplaced
}

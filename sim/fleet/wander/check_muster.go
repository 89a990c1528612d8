package wander

import (
	"fmt"
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/wire"
)

// MusterChecker checks that a token has all its guardians from the moment in which it comes to a member: as many as configured, or all
// the others that its holder sees. Members that have failed the holder do not count: it may avoid them.
type MusterChecker struct {
	backups int
	// view are the members that each one sees, failed those of them that have failed it since its start.
	view, failed map[int][]wire.MemberID
}

// NewMusterChecker returns a checker of one run. A token should have this many guardians.
func NewMusterChecker(backups int) *MusterChecker {
	return &MusterChecker{backups: backups, view: map[int][]wire.MemberID{}, failed: map[int][]wire.MemberID{}}
}

// Watch implements [sim.Watcher].
func (k *MusterChecker) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	if o.Ends() {
		delete(k.view, o.Member)
		delete(k.failed, o.Member)
	}
	if o.Kind != sim.Stepped {
		return nil
	}
	if o.Event.Kind == policy.PeersChanged {
		k.view[o.Member] = o.Event.Peers
	}
	var came wire.TokenID
	for i := range o.Effects {
		e := &o.Effects[i]
		if e.Kind != policy.Tell {
			continue
		}
		switch note := e.Note; {
		case note == handoff.NoteNoAck || note == wander.NoteRevived:
			k.failed[o.Member] = append(k.failed[o.Member], e.Peer)
		}
		switch note := e.Note; {
		case note == wander.NoteArrived || note == wander.NoteRevived || note == wander.NoteMinted || note == wander.NoteRegenerated:
			came = e.Token.ID
		}
	}
	if came.IsZero() || !o.Completes() {
		return nil
	}
	s := c.Status(o.Member)
	if !s.Holding || s.Token.ID != came {
		return nil
	}
	detail := Detail(c, o.Member)
	return k.guards(c, o, detail.Trail())
}

// guards checks the guardians of a token that has come to a member.
func (k *MusterChecker) guards(c *sim.Cluster, o *sim.Occurrence, trail guardian.Trail) error {
	there := 0
	for _, id := range k.view[o.Member] {
		if id != c.ID(o.Member) && !slices.Contains(k.failed[o.Member], id) {
			there++
		}
	}
	if want := min(k.backups, there); trail.Len() < want {
		return fmt.Errorf("muster: %s takes a token that %d guard, and sees %d others of whom %d were to",
			sim.MemberName(o.Member), trail.Len(), there, want)
	}
	return nil
}

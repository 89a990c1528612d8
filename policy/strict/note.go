package strict

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
)

const (
	// NoteNotRecorded: the start of an operation could not be saved; it does not run this time.
	NoteNotRecorded policy.Note = iota + 192
	// NoteBarred: the roster has changed by more than one member since this member was last here.
	NoteBarred
	// NoteClaimed: Peer has claimed the interval for its run.
	NoteClaimed
)

// isSlowNetwork reports whether this is the handoff's own note about a slow network. That note names a setting that a
// strict gate does not have.
func isSlowNetwork(n policy.NoteInfo) bool { return n.Note == handoff.NoteSlowNetwork }

func notes() policy.Notes {
	return policy.Notes{
		{
			Note: handoff.NoteSlowNetwork, Name: "slow_network", Level: policy.Warn, Repeats: true,
			Facts: []policy.Key{policy.KeyRoundTrip, policy.KeyLeastLease},
			Text: "answers take longer than a strict gate expects: its members wait longer for those that are far " +
				"away; " +
				"if there is a least_lease, set lease to that or more, on all members",
		},
		{
			Note: NoteNotRecorded, Name: "not_recorded", Level: policy.Error, Denied: true,
			Text: "not running this time; the token goes on",
		},
		{
			Note: NoteBarred, Name: "barred", Level: policy.Error,
			Text: "the roster has changed by more than one member; this member stands aside: change one at a time on " +
				"all members, or stop the gate everywhere and remove its state",
		},
		{
			Note: NoteClaimed, Name: "claimed", Level: policy.Info, Repeats: true,
			Text: "another host has run for all in this interval, or did not live to say how its run has ended; the " +
				"token goes on",
		},
	}
}

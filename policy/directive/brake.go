package directive

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// The brake: after a number of failed runs in a row on different hosts, the gate is paused until somebody resumes it.
// One bad host does not stop a fleet, because the others succeed in between; a bad release does. The list of the hosts
// travels with the token, so each member continues the count of the member before it. A run by hand counts like any
// other: an operator who sees a release fail by hand on that many hosts does not want it on the others. In a gate with
// several tokens, runs that end at the same time may count as one.

// StopAfter changes the number of failures in a row after which the gate is paused; see [New].
func (l *Layer) StopAfter(hosts int) { l.stopAfter = hosts }

// count records how the gate's own operation has ended here. A caller's command is its caller's business, and an
// operation that cannot do its work now has not failed.
func (l *Layer) count(wall int64, ev *policy.Event) {
	switch {
	case ev.Denied || !l.own && !ev.ByHand:
	case ev.Outcome == policy.Failed && ev.Exit > 0:
		l.failures.Add(l.self, ev.Exit)
		if l.stopAfter > 0 && l.failures.Len() >= l.stopAfter && !l.directive.Pauses(wall) {
			l.directive = l.Next(wall, wire.ForEver)
		}
	case ev.Outcome == policy.Succeeded && l.failures.Len() > 0:
		l.failures.Clear()
	}
}

// StandStill decides whether the gate is paused when a host stays away for longer than its grant is kept.
func (l *Layer) StandStill(stands bool) { l.standStill = stands }

// stayedAway pauses the gate because of a host that has not come back; all that the machine sends from then on says so.
// A host that is here has come back, whatever this member has heard of its grant.
func (l *Layer) stayedAway(wall int64, host wire.MemberID) {
	if l.standStill && !slices.Contains(l.peers, host) && !l.directive.Pauses(wall) {
		l.directive = l.Next(wall, wire.ForEver)
	}
}

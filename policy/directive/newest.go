package directive

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/wire"
)

// "Newest wins." A directive's stamp is a Lamport clock that is never behind the wall clock of its giver. So an
// operator's directive is newer than every directive that the giver knew; if the giver did not know the last one, the
// clocks decide. A pause ends by the wall clock of each member, because a directive that carried its remaining time
// would change on its way.

// Next returns a directive that this member gives now, newer than all that it knows; see [wire.Directive] for until.
// The directive has no effect before it comes back with Directed.
func (l *Layer) Next(wall, until int64) wire.Directive {
	stamp := uint64(max(time.Unix(0, wall).UnixMilli(), 1))
	return wire.Directive{Stamp: max(stamp, l.directive.Stamp+1), By: l.self, Until: until}
}

// listen takes from a message what is new in it. A message that the machine does not expect has no effect at all,
// because it may be a replay.
func (l *Layer) listen(wall int64, m *wire.Message) {
	if m.Directive.Compare(l.directive) <= 0 && m.Failures.Compare(&l.failures) <= 0 || !l.Expects(m) {
		return
	}
	l.hear(wall, m.Directive)
	if m.Failures.Compare(&l.failures) > 0 && m.Directive == l.directive {
		l.failures = m.Failures
	}
}

// hear takes a directive if it is newer than the one that this member knows. With each directive the count of failures
// begins again at zero, because the operator who gives a directive has looked at them. So a list of failures from a
// member with another directive means nothing.
func (l *Layer) hear(wall int64, d wire.Directive) {
	if d.Compare(l.directive) > 0 && d.Stamp <= wire.LatestStamp(wall) {
		l.directive = d
		// The stamp of the list begins again, too: only lists under one directive are compared.
		l.failures = wire.Failures{}
	}
}

// Newest is the newest directive that this member knows; zero if there has been none.
func (l *Layer) Newest() wire.Directive { return l.directive }

// Here is when the pause of this member alone ends, in nanoseconds of Unix time.
func (l *Layer) Here() int64 { return l.here }

// Paused reports whether this member may not run, as of the last step.
func (l *Layer) Paused() bool { return l.paused }

// Failures are the hosts that have failed in a row, as far as this member knows.
func (l *Layer) Failures() wire.Failures { return l.failures }

// timeUntil is the time from wall to end, limited to the range of a duration: a clock may be wrong by centuries.
func timeUntil(wall, end int64) time.Duration {
	if d := end - wall; d >= 0 {
		return time.Duration(d)
	}
	return math.MaxInt64
}

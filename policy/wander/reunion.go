package wander

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// Members that come into a view may have a token of their own, or a copy of this one, because the network was split. By
// the rules of the paper both tokens continue until one of them comes to a member that has met both. In a large fleet
// that takes minutes, and longer where operations take long. So a holder sends a heartbeat to members that have come,
// and so do the next holders: to mostGreeted members each, for greetFor timeouts, and for as many more for each
// mostGreeted members. Each holder greets a member once: where all hosts of a fleet restart, another one comes every
// moment, and to greet all of them each time would take more than a thousand datagrams. A member that knows a copy with
// a higher number answers with it. A member that holds another token answers with a heartbeat of its own if the
// announced token is older; if its own is older, it tells the holder that the younger token is no more. A holder that
// does not hear that is told again.
const (
	mostGreeted = guardian.MostAsked
	greetFor    = 8
)

// reunion is what a member remembers of a view in which others have come: the view before it, and the time until which
// the newcomers are greeted.
type reunion struct {
	before []wire.MemberID
	until  policy.Time
}

// note records that members have come. If others came a moment ago, all of them are meant. A member that was alone does
// not greet the others: to it all the others have come, and the others greet it.
func (r *reunion) note(cfg *Config, now policy.Time, view, before *peers) {
	since := before.IDs
	if now < r.until {
		since = r.before
	} else if before.Alone() {
		return
	}
	come := 0
	for i := range view.IDs {
		if cfg.hasCome(view.IDs[i], since) {
			come++
		}
	}
	if come > 0 {
		cfg.Marks.Hit(markCame)
		*r = reunion{before: since, until: now.Add(cfg.timeouts(greetFor * (1 + come/mostGreeted)))}
	}
}

// hasCome reports whether a member of the view is not this one, and was not in an earlier view.
func (c *Config) hasCome(id wire.MemberID, before []wire.MemberID) bool {
	_, was := slices.BinarySearchFunc(before, id, wire.MemberID.Compare)
	return !was && id != c.Self
}

// greet lets g send heartbeats of the held token, if there is one, to members that have come, except those of an
// earlier view, which this member has greeted; its guardians know of it already. It begins at a random place in the
// view, so that each time other members are first.
func (r *reunion) greet(
	cfg *Config, now policy.Time, view, greeted *peers, held *guardian.Token, g *guardian.Machine, out []policy.Effect,
) []policy.Effect {
	if now >= r.until || held == nil || !held.Guarded() || g.Doubting() {
		return out
	}
	trail := held.Trail()
	from, left := cfg.draw(view.Count()), mostGreeted
	for i := range view.IDs {
		id := view.IDs[(from+i)%len(view.IDs)]
		if left > 0 && !trail.Has(id) && cfg.hasCome(id, r.before) && cfg.hasCome(id, greeted.IDs) {
			out = g.Greet(id, held, out)
			left--
		}
	}
	return out
}

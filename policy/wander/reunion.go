package wander

import (
	"slices"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// Members that come into a view may have a token of their own, or a copy of this one: the network was split. By the
// rules of the paper the two tokens go on until one of them comes to a member that has met both. In a large fleet that
// takes minutes, and longer where operations take long. So a holder sends a beat to members that have come, and so do
// the next holders: to mostGreeted members each, for greetFor timeouts, and for as many more for each mostGreeted
// members. Who knows a copy with a higher number says so. Who holds another token answers with a beat of its own, if
// that is the older one; or tells the holder that its token is no more. One that does not hear that is told again.
const (
	mostGreeted = guardian.MostAsked
	greetFor    = 8
)

// reunion is what a member remembers of a view in which others have come: the view before it, and until when they are
// greeted.
type reunion struct {
	before []wire.MemberID
	until  policy.Time
}

// note remembers that members have come. If others came a moment ago, all of them are meant. To a member that was alone
// everybody has come: the others greet it.
func (r *reunion) note(cfg *Config, now policy.Time, view, before *peers) {
	since := before.ids
	if now < r.until {
		since = r.before
	} else if before.alone() {
		return
	}
	come := 0
	for i := range view.ids {
		if cfg.hasCome(view.ids[i], since) {
			come++
		}
	}
	if come > 0 {
		*r = reunion{before: since, until: now.Add(cfg.timeouts(greetFor * (1 + come/mostGreeted)))}
	}
}

// hasCome reports whether a member of the view is another one that was not in an earlier view.
func (c *Config) hasCome(id wire.MemberID, before []wire.MemberID) bool {
	_, was := slices.BinarySearchFunc(before, id, wire.MemberID.Compare)
	return !was && id != c.Self
}

// greet lets g tell members that have come of the held token, if there is one; its guardians know of it. It begins
// anywhere in the view, so that each time others are first.
func (r *reunion) greet(
	cfg *Config, now policy.Time, view *peers, held *guardian.Token, g *guardian.Machine, out []policy.Effect,
) []policy.Effect {
	if now >= r.until || held == nil || !held.Guarded() || g.Doubting() {
		return out
	}
	trail := held.Trail()
	from, left := cfg.draw(view.count()), mostGreeted
	for i := range view.ids {
		if id := view.ids[(from+i)%len(view.ids)]; left > 0 && !trail.Has(id) && cfg.hasCome(id, r.before) {
			out = g.Greet(id, held, out)
			left--
		}
	}
	return out
}

package wander

import (
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A token whose holder and guardians all fail at once is lost, and a silence of Δmax is a long wait for what the others
// can say at once. So a member makes a new token before that, if the loss is certain:
//
//   - In one question, every other member of its view answered that since the question began it neither held nor
//     guarded a token, nor had acknowledged an offer of one, nor ran. The same applies to this member. A member that
//     does not answer is asked until it does, or leaves the view. If a member comes into the view, the question is
//     asked from the beginning; if it has lasted for long, once more, because others may have made a token meanwhile.
//   - The view is more than half of it and those that left it within Δmax, as this member and each that answered
//     knows them, and no more than mostGone have left it.
//
// When the question began, the token was with no member of the view, nor on its way between two of them: the giver had
// it, or the receiver had acknowledged it, until one of them answered. A member that was away or restarted since then
// cannot say so, because an answer says for how long its sender has had no token in this life. What remains is a member
// outside of the view: that is dead, or it is in another part of a network that is split. Therefore the majority: the
// members of a minority, and of either half, wait for Δmax. And therefore the other bound: when the network is whole
// again, a holder greets so many newcomers at once, and two tokens become one within seconds. In larger parts that
// takes most of a minute.
//
// It costs a fleet nothing while its guardians live: a member asks only when the members that had the token last, as
// far as it knows, have all left its view. The nearest living holder of before knows them: it was the guardian before
// them, and the one that released it named those that had taken its place. It asks one member, then four, then all, as
// after a silence; most members that ask without need hear of a later sighting first. If the nearest holder was
// restarted meanwhile, or that message was lost, the token is missed after Δmax.
//
// The walk does not matter for this; in the plain paper, without guardians, only Δmax counts.

// certainty is what a member needs to know for that.
type certainty struct {
	// at is when this member will ask; zero if it will not.
	at policy.Time
	// gone are the members that have left the view; nil if none has. What it points to never changes.
	gone *departures
}

// departures are members that have left the view. more is true if there are others than those listed, the last of which
// left at moreAt.
type departures struct {
	listed []departed
	more   bool
	moreAt policy.Time
}

// departed is a member that has left the view at that time, in order or not: the view does not tell.
type departed struct {
	id wire.MemberID
	at policy.Time
}

const (
	// mostGone is how many members may have left the view. If more have, that is rather a split than dead hosts.
	mostGone = mostGreeted
	// mostWaits is how often a member of a batch that does not answer is asked before a member gives up to be certain.
	mostWaits = 40
	// mostUnsure is how often a member asks again while its view stays the same, each time after a longer pause.
	mostUnsure = 5
)

// noteView records which members have left the view or returned, and asks if those that had the token last are gone.
func (l *loss) noteView(o *outlook, now policy.Time, before *peers) {
	come, went := l.certainty.note(now.Add(-o.maxInterval()), now, &o.walk.peers, before)
	if !come && !went {
		return
	}
	if come && l.inquiry.certain {
		o.cfg.Marks.Hit(markCameWhileAsking)
		l.inquiry = inquiry{} // It has not been asked since the question began.
	}
	if l.silence.unsure = 0; !l.inquiry.live && l.lastHoldersGone(o, now) {
		o.cfg.Marks.Hit(markHoldersGone)
		l.certainty.at = now
	}
}

// note records the change of the view, and reports whether members have come, and whether some have left. If too many
// have, it forgets those that left before since: not earlier, because Δmax is shorter while a member sees few.
func (c *certainty) note(since, now policy.Time, view, before *peers) (come, went bool) {
	var gone departures
	if c.gone != nil {
		for _, d := range c.gone.listed {
			if !view.Has(d.id) {
				gone.listed = append(gone.listed, d)
			}
		}
		if c.gone.moreAt > since {
			gone.more, gone.moreAt = c.gone.more, c.gone.moreAt
		}
	}
	i := 0
	for _, id := range before.IDs {
		for ; i < len(view.IDs) && view.IDs[i].Compare(id) < 0; i++ {
			come = true
		}
		if i < len(view.IDs) && view.IDs[i] == id {
			i++
			continue
		}
		if len(gone.listed) == mostGone {
			gone.listed = slices.DeleteFunc(gone.listed, func(d departed) bool { return d.at <= since })
		}
		if len(gone.listed) < mostGone {
			gone.listed = append(gone.listed, departed{id, now})
		} else {
			gone.more, gone.moreAt = true, now
		}
		went = true
	}
	if c.gone = nil; gone.more || len(gone.listed) > 0 {
		c.gone = &gone
	}
	return come || i < len(view.IDs), went
}

// members is how many members were in the view within Δmax. It is twice the view if too many have left it.
func (l *loss) members(o *outlook, now policy.Time) int {
	c, since := &l.certainty, now.Add(-o.maxInterval())
	n := o.walk.Count()
	if c.gone == nil {
		return n
	}
	if c.gone.more && c.gone.moreAt > since {
		return 2 * n
	}
	for i := range c.gone.listed {
		if c.gone.listed[i].at > since {
			n++
		}
	}
	return n
}

// lastHoldersGone reports whether all members that had the token last, as far as this member knows, have left its view,
// and whether it may replace that token.
func (l *loss) lastHoldersGone(o *outlook, now policy.Time) bool {
	_, keeps := o.guardian.Keeps()
	if keeps || o.cfg.Backups == 0 || o.cfg.Keep > 0 || !l.hasSighted(o) || !l.regenerates(o) {
		return false
	}
	sighted := l.sighted(o)
	leads := sighted.Trail()
	for _, id := range leads[:leads.Len()] {
		if id == o.cfg.Self || o.walk.Has(id) {
			return false
		}
	}
	return leads.Len() > 0 && !o.walk.Alone() && l.isMajority(o, now, 0)
}

// isMajority reports whether the view is more than half of all members, which others believe to be at least some.
func (l *loss) isMajority(o *outlook, now policy.Time, others int) bool {
	return 2*len(o.walk.IDs) > max(l.members(o, now), others)
}

// seeksCertainty reports whether this member asks, or should ask now, whether the token is certainly lost.
func (l *loss) seeksCertainty(o *outlook, now policy.Time) bool {
	q, at := &l.inquiry, l.certainty.at
	switch l.certainty.at = 0; {
	case q.live:
		return q.certain && q.census.times < mostWaits && l.regenerates(o)
	case at == 0 || now < at:
		l.certainty.at = at
		return false
	}
	return l.lastHoldersGone(o, now)
}

// isCertain reports whether the token is lost: all others have answered that.
func (l *loss) isCertain(o *outlook, now policy.Time) bool {
	return l.quiet(o, now, false) > now.Sub(l.inquiry.askedAt) && l.isMajority(o, now, int(l.inquiry.members))
}

// quiet is for how long this member has neither held nor guarded a token, nor acknowledged an offer of one, nor run;
// zero if it does so now.
func (l *loss) quiet(o *outlook, now policy.Time, busy bool) time.Duration {
	if _, keeps := o.guardian.Keeps(); busy || keeps || o.handoff.Receiving() {
		return 0
	}
	return max(now.Sub(l.silence.since), 0)
}

// vouch adds to an answer for how long this member has had no token, and how many members it knows.
func (l *loss) vouch(o *outlook, now policy.Time, busy bool, answer *wire.Message) {
	SetQuiet(&answer.Load, l.quiet(o, now, busy))
	SetMembers(&answer.Load, uint32(l.members(o, now)))
}

// vouches reports whether the sender of an answer has had no token since the question began. The time counts from when
// the answer came, so that it is no earlier than it was.
func (l *loss) vouches(now policy.Time, answer *wire.Message) bool {
	q := &l.inquiry
	q.members = max(q.members, MembersOf(&answer.Load))
	return now.Add(-QuietOf(&answer.Load)) < q.askedAt
}

// unsure ends a question because a member may have the token, and asks again later, each time after a longer pause.
func (l *loss) unsure(o *outlook, now policy.Time) {
	o.cfg.Marks.Hit(markUnsure)
	l.inquiry = inquiry{}
	l.silence.unsure = min(l.silence.unsure+1, mostUnsure+1)
	again := now.Add(o.batchTakes() << l.silence.unsure)
	switch asks := l.silence.unsure <= mostUnsure; {
	case l.first.armed:
		l.first.armed, l.first.at = asks, again
	case asks:
		l.certainty.at = again
	}
}

package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// How long a starting fleet waits with its first token, in handoff timeouts. A member creates one when its view has not
// changed for settleTimeouts, or has kept changing for unsettledTimeouts, and staggerTimeouts later for each member of
// a lower rank.
const (
	settleTimeouts    = 3
	unsettledTimeouts = 40
	staggerTimeouts   = 8
)

// firstToken is what a member knows about the first token of its fleet. The paper starts with a token in place. A fleet
// that is switched on at once must make exactly one, and must not wait for Δmax. The members take turns to create it in
// the order of their identities. A member that has met a token announces that by gossip before the next rank would
// create one, and in its answers to questions.
//
// The gossip has one bit for all tokens of a gate. While a fleet gets more slots by restarts one by one, the first slot
// has its token all the time, so the bit means nothing for the other slots. In the other slots every member asks first;
// in a sweep it also asks members to which that token comes. In a gate with several slots the bit may also be about
// another token than the first slot's, or about one from before a restart of all. So then the first slot's is made only
// if all members answer that they have met none, as for one that is certainly lost.
type firstToken struct {
	// met is true once this member has met a token, known once another member has reported that it has.
	met, known bool
	// company is true once this member has seen another member since it started, or its host others that do not have
	// this gate.
	company bool
	// asked is true once at least one view has come.
	asked bool
	// closed is true once this member leaves: it makes no token any more.
	closed bool
	// armed is true if this member will create the first token: at is when, since is when the wait began. rank and
	// count are those of the view from which at was computed.
	armed       bool
	rank, count int32
	since, at   policy.Time
	// rival is the last member that has said, while this one was armed, that it holds a token, or is about to make one.
	rival wire.MemberID
}

// isGreeting reports whether a message is a holder's greeting to a member that has just come back: its view of the
// others is new, what they announce may come a moment later, and it may be the first in rank. The greeting may be the
// replay of an old one. So it does not keep the member from making a token; but the member asks its sender before.
func (l *loss) isGreeting(m *wire.Message) bool {
	return l.first.armed && m.Kind == guardian.KindHeartbeat
}

// noteRival records whom this member asks before it makes the first token.
func (l *loss) noteRival(id wire.MemberID) {
	if l.first.armed {
		l.first.rival = id
	}
}

// view decides from a new view of the gate whether and when this member makes the first token, and reports whether it
// does so now. known is true if another member has met a token.
func (l *loss) view(
	o *outlook, now policy.Time, known bool, out []policy.Effect,
) (makes missing, effects []policy.Effect) {
	f := &l.first
	if known && o.cfg.Keep > 0 {
		out = l.meet(out)
	}
	f.known = known
	firstView := !f.asked
	f.asked = true
	switch {
	case f.met || f.known && !o.cfg.several() || l.first.closed:
		f.armed = false
	case o.cfg.Keep > 0 && o.cfg.Rejoins:
		o.cfg.Marks.Hit(markKeptElsewhere)
		f.armed = false // A host of that fleet may be away under its grant.
	case l.waitsAlone(o.cfg):
		f.armed = false
		if firstView {
			o.cfg.Marks.Hit(markWaitsAlone)
			out = policy.AppendTell(out, NoteWaiting, wire.MemberID{}, nil)
		}
	case o.walk.Alone() && !f.company:
		o.cfg.Marks.Hit(markFirstAlone)
		return missingFirst, out
	case !f.armed:
		f.armed, f.since, f.rival = true, now, wire.MemberID{}
		l.awaitTurn(o, now)
	case f.rank != int32(o.walk.Rank) || f.count != int32(o.walk.Count()):
		l.awaitTurn(o, now)
	}
	return missingNone, out
}

// awaitTurn begins the wait until the view has settled and all lower ranks have had their turns. At first a member sees
// only parts of the fleet, and may wrongly have rank 0 in such a part.
func (l *loss) awaitTurn(o *outlook, now policy.Time) {
	f := &l.first
	f.rank, f.count = int32(o.walk.Rank), int32(o.walk.Count())
	settled := min(now.Add(o.cfg.timeouts(settleTimeouts)), f.since.Add(o.cfg.timeouts(unsettledTimeouts)))
	f.at = settled.Add(o.cfg.timeouts(staggerTimeouts * int(f.rank)))
}

// isUnclear reports whether a token is known to exist that may be this slot's or another one's.
func (f *firstToken) isUnclear(cfg *Config) bool { return f.known && cfg.Slot == 0 }

// wakeFirst asks others before this member makes the first token. Every member but rank 0 asks the lower ranks whether
// one exists: the gossip of the lower ranks may be slower than this member's patience, or they saw less of the fleet
// and began earlier. So does rank 0 if a holder has greeted it, or another member asks,
// which does not see that rank 0 is back.
func (l *loss) wakeFirst(o *outlook, now policy.Instant, out []policy.Effect) (makes missing, effects []policy.Effect) {
	unclear := l.first.isUnclear(o.cfg)
	if q := &l.inquiry; unclear && !q.certain && now.Time < l.regenerateAt(o) {
		o.cfg.Marks.Hit(markUnclear)
		*q = inquiry{} // It was not unclear when the question began, and some may not be asked until they answer.
	}
	must := unclear || o.walk.Rank > 0 || o.cfg.Slot > 0 || !l.first.rival.IsZero()
	over, out := l.inquire(o, now, must, unclear, out)
	switch q := &l.inquiry; {
	case unclear && (over && !l.isCertain(o, now.Time) || q.census.times >= mostWaits):
		o.cfg.Marks.Hit(markFirstUncertain)
		l.unsure(o, now.Time)
	case over:
		makes = missingFirst
	}
	return makes, out
}

// makesFirstAt is when this member makes the first token; it is set only if first is armed.
func (l *loss) makesFirstAt(o *outlook) policy.Time { return o.unlessArriving(l.first.at) }

// waitsAlone reports whether this member waits because it belongs to a fleet and has not seen any other member of it. A
// member that was in a fleet in an earlier life waits no longer than for a lost token, because the others may be gone
// for good.
func (l *loss) waitsAlone(cfg *Config) bool {
	return l.expectsCompany(cfg) && !l.first.met
}

// expectsCompany reports whether this member belongs to a fleet, and has not seen any other member of it.
func (l *loss) expectsCompany(cfg *Config) bool {
	return (cfg.WaitsAlone || cfg.Rejoins) && !l.first.company
}

// hasCompany reports whether this member is not alone, as far as it knows.
func (m *Machine) hasCompany() bool { return m.loss.first.company }

// meetCompany records that this member is not alone. The time in which it waited for its fleet does not count as a
// silence.
func (l *loss) meetCompany(cfg *Config, now policy.Time) {
	if l.waitsAlone(cfg) {
		l.begin(now)
	}
	l.first.company = true
}

// meet announces that the gate has a token, once. In a gate with kept grants, a member that has only been told of one
// does so, too: those that have met it may be the hosts that are away, and members that see them no more would make
// another first token.
func (l *loss) meet(out []policy.Effect) []policy.Effect {
	if l.first.met {
		return out
	}
	l.first.met, l.first.armed = true, false
	return append(out, policy.Effect{Kind: policy.Announce})
}

package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/wire"
)

// passed is the oldest token that recently left this member for another one: which token, for which member, and when. A
// younger token that arrives may have to be discarded because of it.
type passed struct {
	token wire.TokenID
	// to is zero if there is no such token.
	to wire.MemberID
	at policy.Time
}

// note records the token that leaves, unless an older one that was recorded may still exist.
func (p *passed) note(now policy.Time, id wire.TokenID, to wire.MemberID, l *loss, o *outlook) {
	if p.isSet() && p.token.Precedes(id) && now.Sub(p.at) < l.regenerateAfter(o) {
		return
	}
	p.token, p.to, p.at = id, to, now
}

func (p *passed) isSet() bool { return !p.to.IsZero() }

// chases is a second removal rule, based on the tokens that this member has passed on. A token is discarded if a token
// that precedes it left this member after the younger one was made: then there were two. It is also discarded if the
// older token left less than a lap ago: then there most probably are two. Two tokens can follow each other for ever at
// a distance of half a lap, and if a lap takes longer than Δmin, the paper's rule removes neither.
//
// The first condition holds for all walks, laps and configurations. It never removes a token that replaces a lost one:
// the lost token was here before its replacement was made. So the younger of two tokens comes no further than the
// member that had the older token when the younger one was made. On a random walk without guardians, the plain paper,
// only the paper's rule applies.
func (p *passed) chases(o *outlook, now policy.Time, t *guardian.Token) bool {
	if !p.isSet() || !p.token.Precedes(t.ID) || o.cfg.plain() {
		return false
	}
	since := now.Sub(p.at)
	if wasMadeAfter(since, t) {
		return false
	}
	return since < AgeOf(&t.Load) || o.cfg.Walk != Random && since < o.lapAtMost()
}

// plain reports whether this is the plain paper: a random walk without guardians and demands.
func (c *Config) plain() bool {
	return c.Walk == Random && c.Backups == 0 && !c.OnDemand
}

// crosses reports whether a token comes from the member to which an older one was just passed: the two crossed on the
// way. Without this rule two tokens would change places for ever between two members whose runs take equally long, and
// at least Δmin.
func (p *passed) crosses(o *outlook, now policy.Time, from wire.MemberID, id wire.TokenID) bool {
	return p.to == from && now.Sub(p.at) < o.handoff.PatienceWith(from) && p.token.Precedes(id)
}

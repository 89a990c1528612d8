package wander

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/wire"
)

// When all members of a fleet stop, their token dies with them. The first token that they make afterwards is younger
// than the token under which each of them ran last. By the removal rule of the paper, each member that ran less than
// Δmin ago would discard it. So a run counts against a token only while the token of that run may still exist. A member
// knows that as follows:
//
//   - A first token is made only by a member whose fleet had not met a token since it started: of all members in its
//     view, none reported by gossip that it had; in the other slots of a gate, none of those that it asked did. The
//     identity of the token shows that it is a first one. So members that start later learn of it too, and no holder
//     can forget it.
//   - A run in this life of a member always counts: a token that was here in this life may still exist.
//   - A run in an earlier life counts against any token but a first one. A single member that was restarted does not
//     know whether the token of its last run still exists, and the members around it have met that token.
//   - If the view has more than half of the members that were here when that run started, it does not count against a
//     first token.
//   - Otherwise the token of that run may exist in another part of the fleet. The member then does not discard the
//     first token, but keeps it, unused, until more members are here or Δmin is over. So a fleet whose hosts start in
//     waves has a token as soon as more than half of them are back.
//
// An operator may report that there is no token; then a member makes a renewed one, see renew.go. Nothing that happened
// before it was made counts against it.

// origin is how a token came to be, in the last bits of its random id. A member that draws its random id freely, as
// older versions do, draws each of these values once in 65,536 times. The only effect would be that a member keeps a
// younger token for some time longer.
type origin uint16

const (
	// originLost: it replaces a token that is lost, as far as its maker knows.
	originLost origin = 0
	// originFirst: the fleet had met no token since it started.
	originFirst origin = 0xf1f5
	// originRenewed: an operator has reported that there is no token.
	originRenewed origin = 0x4e3d
	// originCertain: all members have answered that there is no token: see certain.go. It counts as renewed.
	originCertain origin = 0xce27
)

const originBits = 1<<16 - 1

// random is the random id of a new token of that origin.
func (o origin) random(drawn uint64) uint64 { return drawn&^originBits | uint64(o) }

func originOf(id wire.TokenID) origin { return origin(id.Random & originBits) }

// IsFirst reports whether the fleet of a token had met no token since it started.
func IsFirst(id wire.TokenID) bool { return originOf(id) == originFirst }

// isBygone reports whether the last run does not count against t.
func isBygone(s *soft.Schedule, now policy.Time, t *guardian.Token) bool {
	switch originOf(t.ID) {
	case originFirst:
		return s.Restored()
	case originRenewed, originCertain:
		ran, _ := s.LastRun()
		return wasMadeAfter(now.Sub(ran), t)
	case originLost:
	}
	return false
}

// shelves reports whether this member keeps the held token unused. It does if the token is a first one that another
// member has made, while this member ran lately in an earlier life and no majority of the fleet of that time is here.
// held is nil if no token is held.
func shelves(cfg *Config, s *soft.Schedule, now policy.Time, held *guardian.Token, members int) bool {
	if held == nil || !s.Restored() || !IsFirst(held.ID) || held.ID.Generator == cfg.Self {
		return false
	}
	return s.RanUnderOlder(cfg.terms(), now, held.ID) && 2*members <= s.MembersThen()
}

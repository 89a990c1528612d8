package ballot

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A gate may run once in an interval for its whole roster. Then a lease is not enough: its holder may die with the news
// that it has run. So the holder claims the interval before its run, and runs only once a majority has recorded that.
// Two majorities share a member, and that member supports no other claim before the first one is over.
//
//	holder                       supporter
//	  ── Renew(claims) ────────▶  supports no other claim: records this one, saves
//	    ◀──────────── Renewed ──
//	  runs, and has failed
//	  ── Renew(unkeeps, lifts) ▶  forgets the claim, saves
//	    ◀──────────── Renewed ──
//	  lets the token go
//
// A run that has succeeded leaves its claim: it ends by the clock of each supporter. A member that dies in its run
// leaves it, too, and so does one that has lost its token on the way: nobody knows whether it has run. Only the same
// life of the same member may claim again, with a higher number, before its run has begun.
//
// A member that has lost its state has forgotten what it supports. So the rule holds as long as no state is lost.
//
// Within an epoch the hops order what a holder asks for, as in keep.go: a claim that is late is not recorded again
// after it was lifted.

// lifts is what a Renew has in place of an interval if the claim is over: its run has not succeeded.
const lifts policy.Time = -1

// claiming is what a holder knows of its claim.
type claiming struct {
	// interval is what it claims; zero if it claims nothing, or its run has begun.
	interval time.Duration
	// asked is true if others may have recorded the claim, and has is true once a majority has, in this round.
	asked, has bool
	// life is the life of this member that has claimed. lifts is true while the holder tells the others that the claim
	// is over.
	life  uint64
	lifts bool
	// refusals are the members that support another claim, in this round; by and until are of one of those claims, the
	// first that ends. taken is true if it keeps this member from running.
	refusals ranks
	by       wire.MemberID
	until    policy.Time
	taken    bool
}

// claims is what a Renew has in place of a clock. Where a grant is to be kept, the interval is claimed with that.
func (h *holder) claims(what asks) policy.Time {
	switch {
	case what == unkeeps && h.claim.lifts:
		return lifts
	case what == keeps, what == renews && !h.keeps:
		return policy.Time(h.claim.interval)
	}
	return 0
}

// Claims makes the holder claim an interval before it runs; zero claims none. Call it before Need.
func (b *Machine) Claims(interval time.Duration) {
	c := &b.holder.claim
	if !b.holder.holds || c.interval == interval {
		return
	}
	c.interval, c.has = interval, false
	if b.round.kind == KindRenew && interval > 0 {
		b.Rest() // It has asked for less: Need asks again.
	}
}

// lacksClaim reports whether a run must wait until a majority has recorded its claim.
func (h *holder) lacksClaim() bool { return h.claim.interval > 0 && !h.claim.has }

// useClaim begins a run under the claim: from now on, no other run may begin under it.
func (b *Machine) useClaim() {
	if c := &b.holder.claim; c.interval > 0 {
		b.supporter.stands, c.interval = true, 0
	}
}

// Claiming reports whether others may have recorded a claim of this holder that has led to no success yet.
func (b *Machine) Claiming() bool { return b.holder.holds && b.holder.claim.asked }

// Succeeded leaves the claim to end by itself, because the run under it has succeeded.
func (b *Machine) Succeeded() { b.holder.claim.asked = false }

// Taken returns whose claim keeps the holder from running, and until when: that of another member, or of an earlier
// life of this one. If by is zero, this member could not record its own. ok is false if nothing keeps it.
func (b *Machine) Taken() (by wire.MemberID, until policy.Time, ok bool) {
	c := &b.holder.claim
	return c.by, c.until, c.taken
}

// Claim returns the claim that this member supports. It may be over; it is zero if there is none.
func (b *Machine) Claim() policy.Claim { return b.supporter.claim }

// EndClaims forgets the claim that this member supports if it was made before a time: an operator has resumed the gate.
func (b *Machine) EndClaims(before policy.Time) {
	s := &b.supporter
	if c := &s.claim; c.Is() && c.Until.Add(-c.For) < before {
		*c, s.stands = policy.Claim{}, false
		s.unsaved, s.saving, s.eager = true, false, true
	}
}

// judgeClaim records a claim, or forgets it. Whether it is supported, supports tells. A claim that is repeated is
// recorded again only after a lease, so that a disk that takes longer than a round does not keep its holder waiting.
func (b *Machine) judgeClaim(now policy.Time, q *question, self bool) {
	s, c := &b.supporter, &b.supporter.claim
	switch {
	case q.kind != KindRenew || q.asks == probes || q.claims == 0:
		return
	case q.claims == lifts:
		if !s.lift(q.from, q.life, q.token.Seq) {
			return
		}
		b.holder.claim.mayBeOver()
	case s.isTaken(now, q, self), s.supports(q) && now.Add(time.Duration(q.claims)).Sub(c.Until) < b.cfg.Lease:
		return
	default:
		s.stands = s.stands && !self
		interval := time.Duration(q.claims)
		*c = policy.Claim{By: q.from, Life: q.life, Seq: q.token.Seq, Until: now.Add(interval), For: interval}
	}
	s.unsaved, s.saving = true, false
}

// lift forgets the claim of a member's life below a number, and reports whether there was one.
func (s *supporter) lift(by wire.MemberID, life uint64, seq wire.Seq) bool {
	s.liftedAt = max(s.liftedAt, seq)
	if s.claim.By != by || s.claim.Life != life || s.claim.Seq >= seq {
		return false
	}
	s.claim, s.stands = policy.Claim{}, false
	return true
}

// mayBeOver takes into account that a claim was lifted here: what kept the holder from running may have been that one.
// The others may not have heard of it yet. So they are asked again.
func (c *claiming) mayBeOver() { c.taken, c.refusals = false, ranks{} }

// endClaim ends the claim of the holder, if it has led to no success.
func (h *holder) endClaim() {
	h.claim = claiming{lifts: h.claim.asked, life: h.claim.life}
}

// isTaken reports whether the interval is another's, or was this member's in an earlier life or a run that has begun.
func (s *supporter) isTaken(now policy.Time, q *question, self bool) bool {
	c := &s.claim
	mine := c.By == q.from && c.Life == q.life && !(self && s.stands)
	return c.Is() && now < c.Until && !mine || q.token.Seq < s.liftedAt
}

// supports reports whether this member has recorded the claim of a question.
func (s *supporter) supports(q *question) bool {
	return s.claim.By == q.from && s.claim.Life == q.life && s.claim.Seq == q.token.Seq
}

// countClaim counts the answer of a member to a claim. busy is zero if it supports the claim; otherwise for how long it
// supports that of another.
func (b *Machine) countClaim(now policy.Time, rank int, busy time.Duration, by wire.MemberID) {
	c, r := &b.holder.claim, &b.round
	if r.claims <= 0 {
		return
	}
	if busy == 0 {
		r.claimed.add(rank)
		c.has = r.claimed.len() >= b.cfg.Roster.Majority() && r.claimed.has(b.cfg.Self)
		return
	}
	b.cfg.Marks.Hit(markClaimRefused)
	if until := now.Add(min(busy, policy.LongestClaim)); c.refusals.len() == 0 || until < c.until {
		c.by, c.until = by, until
	}
	c.refusals.add(rank)
	few := b.cfg.Roster.Len()-c.refusals.len() < b.cfg.Roster.Majority()
	c.taken = c.taken || few || rank == b.cfg.Self
}

// countOwnClaim counts this member's own answer.
func (b *Machine) countOwnClaim(now policy.Time, q *question) {
	busy := time.Duration(0)
	if !b.supporter.supports(q) {
		busy = max(b.supporter.claim.Until.Sub(now), 1)
	}
	b.countClaim(now, b.cfg.Self, busy, b.supporter.claim.By)
}

// claimsAgain begins a round that claims: what others have answered in the last one counts no more. If a majority has
// renewed the lease in the whole of that round, and has not recorded the claim, the interval is taken. It is also taken
// if this member's own claim stands; then nobody is asked. It reports whether others are asked.
func (b *Machine) claimsAgain(now policy.Time, end *Outcome) bool {
	c, last, own := &b.holder.claim, &b.round, &b.supporter
	if over := last.claims > 0 && last.won && now >= last.endAt; over && !c.has {
		b.cfg.Marks.Hit(markClaimUnrecorded)
		switch {
		case c.taken:
		case c.refusals.len() == 0: // Its own disk has not recorded it.
			c.by, c.until = wire.MemberID{}, now.Add(b.cfg.Patience)
		default:
			// Few may not have heard yet that the other claim is over: they are asked again, more and more rarely.
			age := c.interval - c.until.Sub(now)
			c.until = min(c.until, now.Add(max(b.cfg.Lease, age)))
		}
		c.taken = true
	}
	c.taken = c.taken && now < c.until
	if own.stands && now < own.claim.Until {
		b.cfg.Marks.Hit(markClaimStands)
		c.taken, c.by, c.until = true, own.claim.By, own.claim.Until
	}
	if c.has = false; c.taken {
		b.tellTaken(end)
		return false
	}
	c.asked, c.life, c.refusals = true, b.life, ranks{}
	return true
}

// tellTaken lets the owner ask again why it may not run.
func (b *Machine) tellTaken(end *Outcome) {
	if end.Ending == Pending {
		end.Ending, end.Token = Renewed, b.holder.token
	}
}

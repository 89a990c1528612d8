package ballot

import (
	"math"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A grant may outlive its host: the operation reboots it, and no other member is to run before that host is here again.
// So the holder asks for a lease that lasts for Keep after its last word, and runs only once a majority has given one.
// The token dies with the agent, as ever; the lease does not.
//
//	holder                       supporter
//	  ── Renew ────────────────▶  an ordinary lease: whoever hears nobody asks for no longer one
//	    ◀──────────── Renewed ──
//	  saves the grant
//	  ── Renew(keeps) ─────────▶  saves the grant; a lease of Keep
//	    ◀──────────── Renewed ──
//	  runs, goes down, comes back with what it has saved
//	  ── Renew(keeps) ─────────▶  the epoch is still promised: goes on
//	    ◀──────────── Renewed ──
//	  is well again
//	  ── Renew(unkeeps) ───────▶  an ordinary lease, from now
//	    ◀──────────── Renewed ──
//	  ── Release ──────────────▶  over
//
// If the holder stays away, the lease ends after Keep, and others go on with a new epoch. The holder that comes back
// after that is refused, and knows that it has lost its grant.
//
// A supporter that restarts meanwhile does not know how much of the lease is over, and keeps it for the whole Keep
// (rule 9). One that has lost its state does the same, because it may have given such a lease.
//
// Within an epoch the hops order what a holder asks for: the end of a kept lease has a higher number than the run under
// it, and the next run a still higher one. So a message that is late neither ends the lease of a later run, nor brings
// back that of an earlier one.

// mostLease is the longest lease that a member may ask for.
func (b *Machine) mostLease(what asks) time.Duration {
	if what == keeps {
		return b.cfg.Keep
	}
	return b.cfg.MostLease
}

// calm forgets that this member once began without its state, and has waited for the longest kept lease: after its next
// restart it need not do so again.
func (b *Machine) calm(now policy.Time) {
	s := &b.supporter
	if most := inMemo(b.cfg.MostLease); b.cfg.Keep > 0 && now >= s.calmAt && s.greatest > most {
		s.greatest = most
	}
}

// judgeKept gives a lease that is kept, or makes it an ordinary one. It reports false for a message that is late.
func (s *supporter) judgeKept(now policy.Time, q *question) bool {
	switch {
	case q.asks == keeps && q.token.Seq < s.unkeptAt, q.asks == unkeeps && q.token.Seq <= s.keptAt:
		return false
	case q.asks == keeps:
		s.end = max(s.end, now.Add(q.lease))
		s.keep(q)
	default:
		s.lend(now, q.lease)
		s.unkeptAt, s.end = max(s.unkeptAt, q.token.Seq), s.plain
		s.unkeep(s.promised)
	}
	return true
}

// keep records a kept grant, which is saved before the answer leaves. The renewals during a run have the number after
// that of the first one, and change nothing.
func (s *supporter) keep(q *question) {
	s.keptAt = max(s.keptAt, q.token.Seq)
	k := &s.kept
	same := k.Holder == q.from && k.For == q.lease && q.token.Seq <= k.Token.Seq+1
	if same || q.token.Seq < k.Token.Seq {
		return
	}
	*k = policy.Kept{Holder: q.from, Token: q.token, For: q.lease}
	s.unsaved, s.saving = true, false
}

// forgetKept forgets the kept grant of an older epoch, whose lease is over when this member promises a newer one. A
// majority has kept it, so one of those that promise the next epoch knows that its holder has stayed away.
func (s *supporter) forgetKept(q *question) {
	if EpochOf(s.kept.Token.Seq) >= EpochOf(q.token.Seq) {
		return
	}
	if q.kind == KindPromise && s.kept.Holder != q.from {
		s.away = s.kept
	}
	s.kept = policy.Kept{}
}

// tellAway tells who has stayed away, before the promise leaves.
func (b *Machine) tellAway(out []policy.Effect) []policy.Effect {
	away := &b.supporter.away
	if away.Is() && away.Holder != b.id(b.cfg.Self) {
		b.cfg.Marks.Hit(markStayedAway)
		out = policy.AppendTell(out, policy.NoteStayedAway, away.Holder, &away.Token)
	}
	*away = policy.Kept{}
	return out
}

// unkeep forgets a kept grant of an epoch. That is saved at once: after a restart, this member would wait for a lease
// that is over, and the holder would take up a grant that it has given back.
func (s *supporter) unkeep(e Epoch) {
	if s.kept.Is() && EpochOf(s.kept.Token.Seq) == e {
		s.kept = policy.Kept{}
		s.unsaved, s.saving, s.eager = true, false, true
	}
}

// Kept returns the grant that this member's lease keeps: of this member, or of another one. It is zero if there is
// none.
func (b *Machine) Kept() policy.Kept { return b.supporter.kept }

// isKept reports whether the grant of the holder is kept: by a majority, and on its own disk.
func (b *Machine) isKept() bool { return b.holder.kept && !b.supporter.unsaved }

// Keeping reports whether this member holds a grant that is kept, or asks for one.
func (b *Machine) Keeping() bool { return b.holder.holds && b.holder.keeps }

// AskKeepers renews a kept lease as soon as possible; KeepersAnswered reports whether a majority has renewed it since.
// It reports false if this member has no such lease.
func (b *Machine) AskKeepers() bool {
	h, r := &b.holder, &b.round
	if !h.holds || !h.kept || !h.needs {
		return false
	}
	if h.answered = false; r.kind == KindRenew && r.won {
		r.endAt = math.MinInt64
	}
	return true
}

// KeepersAnswered is explained at [Machine.AskKeepers].
func (b *Machine) KeepersAnswered() bool { return b.holder.answered && b.isKept() }

// Keeps makes the holder ask for leases that outlive its host. Call it before Need.
func (b *Machine) Keeps() {
	b.holder.keeps = b.holder.holds && b.cfg.Keep > 0
}

// Resume takes a kept grant up again after a restart: Renewed follows while it is still this member's, else Ended.
// Nothing runs under it any more; [Machine.Unkeep] and then [Machine.Release] end it. It reports false if no grant of
// this member is recorded.
func (b *Machine) Resume(now policy.Time, end *Outcome, out []policy.Effect) (_ []policy.Effect, ok bool) {
	k := &b.supporter.kept
	if k.Holder != b.id(b.cfg.Self) {
		return out, false
	}
	b.cfg.Marks.Hit(markResumed)
	b.hold(&k.Token, now)
	h := &b.holder
	h.token.Seq++ // as the run had
	h.keeps, h.kept, h.needs, h.lapsed = true, true, true, true
	own := &b.supporter.claim
	h.claim.asked, h.claim.life = own.By == k.Holder && own.Seq == k.Token.Seq, own.Life
	return b.renew(now, end, out), true
}

// mayBeKept reports whether a majority may still keep the grant that this member has taken up again, although another
// one has promised a newer epoch: what it does not know is when the kept lease ends.
func (b *Machine) mayBeKept(outbid wire.MemberID) bool {
	rank, ok := b.cfg.Roster.Rank(outbid)
	if !ok || !b.holder.kept {
		return false
	}
	b.cfg.Marks.Hit(markMayBeKept)
	b.round.outbid.add(rank)
	return b.cfg.Roster.Len()-b.round.outbid.len() >= b.cfg.Roster.Majority()
}

// Unkeep makes the kept lease of this holder an ordinary one: its operation is over, and its host is here. If its claim
// has led to no success, that is over, too. First it is saved here that the grant is not kept any more, so that no
// later life takes it up; then all are asked until [Machine.Unkept]. Until then the token must stay here. What is not
// kept need not be saved here first.
func (b *Machine) Unkeep(now policy.Time, end *Outcome, out []policy.Effect) []policy.Effect {
	h, keeping := &b.holder, b.Keeping()
	if !keeping && !b.Claiming() {
		return out
	}
	b.cfg.Marks.Hit(markUnkeeps)
	h.endClaim()
	h.keeps, h.kept, h.unkeeps, h.needs = false, false, true, true
	h.until = min(h.until, now.Add(b.held))
	h.lapsed = h.until <= now // Nobody has answered yet since this member is back, and that is no news.
	h.token.Seq++
	s := &b.supporter
	s.unkeep(EpochOf(h.token.Seq))
	if h.claim.lifts && s.lift(b.id(b.cfg.Self), h.claim.life, h.token.Seq) {
		s.unsaved, s.saving = true, false
	}
	b.round = round{}
	if !keeping {
		s.eager = s.unsaved
		return b.renewAs(now, unkeeps, end, out)
	}
	s.unsaved, s.saving, s.eager = true, false, true
	return out
}

// unkeepSaved goes on with the end of a kept lease after a save. If that has failed, it is tried again at the next
// renewal.
func (b *Machine) unkeepSaved(now policy.Time, end *Outcome, out []policy.Effect) []policy.Effect {
	what := unkeeps
	if b.supporter.unsaved {
		b.cfg.Marks.Hit(markUnkeepFailed)
		what = renews
	}
	return b.renewAs(now, what, end, out)
}

// Unkept reports whether all other members have answered the end of a kept lease, or have been asked for long enough. A
// member that does not know of it gives no other epoch a lease before the kept one is over.
func (b *Machine) Unkept() bool {
	r := &b.round
	answered := r.heard(b.cfg.Self)
	return !b.holder.unkeeps || r.kind == KindRenew && r.asks == unkeeps && answered.len() == b.cfg.Roster.Len()
}

// ReleaseOver ends the leases of a token that is over here, because a member has promised a newer epoch: some may be
// kept. As for Release, nothing of its command may be left.
func (b *Machine) ReleaseOver(now policy.Time, token *wire.Ref, out []policy.Effect) []policy.Effect {
	if b.cfg.Keep == 0 {
		return out
	}
	return b.endLeases(now, token, out)
}

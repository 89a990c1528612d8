package ballot

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// supporter is a member's promise, and the lease that it has given. "Supporter: one lease per gate, (epoch, end)."
// (rule 3)
type supporter struct {
	durable
	// end is when the lease of the promised epoch ends; plain is when it would end if it were not kept.
	end, plain policy.Time
	// calmAt is when the quarantine of rule 9 ends.
	calmAt policy.Time
	// over is the epoch that was last released.
	over Epoch
	// by is the question in which promised was asked for in this life; renewed is the last question that renewed its
	// lease. Either may be zero. renewedAt is the highest number under which it was renewed.
	by, renewed wire.Exchange
	renewedAt   wire.Seq
	// unsaved is true if durable is newer than the state on the disk; saving is true while a save of it is under way;
	// eager is true if it is to be saved although no answer waits for that.
	unsaved, saving, eager bool
	// keptAt is the highest number under which a lease was kept, unkeptAt the highest that ended one: see keep.go.
	keptAt, unkeptAt wire.Seq
	// liftedAt is the highest number that ended a claim; stands is true if claim is this member's own, and its run may
	// have begun: see claim.go.
	liftedAt wire.Seq
	stands   bool
	// soakUntil is when the soak of the holder's host is over, as it has said with the number soakAt: see soak.go.
	soakUntil policy.Time
	soakAt    wire.Seq
	// tooLong is until when this member does not propose, because a holder has renewed a lease, or claimed an interval,
	// that is longer than this member may promise.
	tooLong policy.Time
	// away is the grant of another member whose lease has run out, until that is told: see keep.go.
	away policy.Kept
	// waiting is the question whose answer waits for the save; its kind is zero if there is none.
	waiting question
}

// question is a Promise or a Renew, of this member itself or of another one.
type question struct {
	kind   wire.Kind
	rank   int
	from   wire.MemberID
	number wire.Exchange
	token  wire.Ref
	lease  time.Duration
	// asks is what a Renew asks for; claims is the interval that it claims, or lifts, and life that of its sender.
	asks   asks
	claims policy.Time
	life   uint64
	// soak is how much of a soak is left.
	soak time.Duration
}

// asks is what a Renew asks for.
type asks uint8

const (
	// renews: a lease.
	renews asks = iota
	// probes: only whether the member would answer. The sender's last renewal had too few answers: see judge.
	probes
	// keeps: a lease that outlives the holder's host: see keep.go.
	keeps
	// unkeeps: such a lease becomes an ordinary one.
	unkeeps
	// soaks: a lease, while the holder's host soaks: see soak.go.
	soaks
)

// judge reports whether this member supports a question. If so, judge gives the lease; the answer must wait until the
// promise is saved.
//
// "It answers Renew(e) if e = promised (end := max(end, now + L), L from the message), refuses if e < promised, and
// treats Renew(e > promised) as Promise(e). It answers Promise(e) only if e > promised and its lease has ended; then
// promised := e, saved, end := now + L: a promise is a lease. Otherwise it says "busy until" or "promised e′" and
// changes nothing. Holder and proposer are supporters of themselves by the same rules." (rule 3)
//
// A Promise that comes again, because its answer was lost, is answered again. Another Promise of the same epoch is
// refused. A question that comes after the release of its epoch is refused too: its lease would block all others.
//
// A holder or proposer that sends but does not hear must not keep the others waiting: its unanswered questions count. A
// question gives its lease once, however often it is repeated: the holder's time counts from the first one. If too few
// have answered a renewal, the next ones are probes. They are answered by the same rules, but they lend and promise
// nothing. The holder renews its lease when a majority has answered a probe.
func (s *supporter) judge(now policy.Time, q *question) bool {
	switch e := EpochOf(q.token.Seq); {
	case e < s.promised || e == s.over:
		return false
	case e == s.promised && q.kind == KindPromise && q.number != s.by:
		return false
	case e == s.promised && (q.asks == probes || q.kind == KindPromise || q.number == s.renewed):
		return true
	case e == s.promised && (q.asks == keeps || q.asks == unkeeps):
		if !s.judgeKept(now, q) {
			return false
		}
	case e == s.promised:
		s.lend(now, q.lease)
	case now < s.busyUntil():
		return false
	case q.asks == probes:
		return true
	default:
		s.promised, s.by, s.end = e, q.number, now.Add(q.lease)
		s.unsaved, s.saving = true, false
		s.forgetKept(q)
		if s.plain = s.end; q.asks == keeps {
			s.plain = now
			s.keep(q)
		}
	}
	if q.kind == KindRenew {
		s.isRenewed(q)
	}
	if lease := inMemo(q.lease); lease > s.greatest && q.asks != keeps {
		s.greatest = lease
		s.unsaved, s.saving = true, false
	}
	return true
}

// isRenewed notes that a question has renewed the lease.
func (s *supporter) isRenewed(q *question) {
	s.renewed, s.renewedAt = q.number, max(s.renewedAt, q.token.Seq)
}

// lend gives the promised epoch an ordinary lease.
func (s *supporter) lend(now policy.Time, lease time.Duration) {
	s.plain = max(s.plain, now.Add(lease))
	s.end = max(s.end, s.plain)
}

// busyUntil is the time until which this member promises no other epoch.
func (s *supporter) busyUntil() policy.Time { return max(s.end, s.calmAt, s.soakUntil) }

// onQuestion answers another member, at once or when the promise is saved.
func (b *Machine) onQuestion(at policy.Instant, m *wire.Message, rank int, end *Outcome,
	out []policy.Effect,
) []policy.Effect {
	now := at.Time
	l := loadOf(&m.Load)
	q := question{
		kind: m.Kind, rank: rank, number: m.Exchange, token: m.Token, lease: l.span, from: m.From,
	}
	if m.Kind == KindRenew {
		q.asks, q.claims, q.life = asks(l.number), l.clock, l.life
		if q.asks == soaks {
			q.claims, q.soak = 0, time.Duration(l.clock)
		}
	}
	s := &b.supporter
	switch e := EpochOf(m.Token.Seq); {
	case q.lease > b.mostLease(q.asks), q.claims > policy.Time(policy.LongestClaim):
		b.cfg.Marks.Hit(markTooLong)
		b.heardTooLong(now, &q)
		out = policy.AppendTell(out, NoteLeaseTooLong, m.From, &m.Token)
		return b.refuseOverlong(now, &q, out)
	case m.Kind == KindPromise && e.Rank() != rank || e.Rank() >= b.cfg.Roster.Len():
		b.cfg.Marks.Hit(markWrongProposer)
		return policy.AppendTell(out, NoteEpochRefused, m.From, &m.Token)
	}
	b.seen = max(b.seen, EpochOf(m.Token.Seq))
	b.calm(now)
	if !s.judge(now, &q) {
		b.cfg.Marks.Hit(markRefuses)
		return b.refuse(now, &q, out)
	}
	b.judgeClaim(now, &q, false)
	b.judgeSoak(now, &q)
	out = b.overtaken(s.promised, m.From, end, b.tellAway(out))
	if s.unsaved {
		b.cfg.Marks.Hit(markSupportWaits)
		s.waiting = q
		return out
	}
	return b.support(now, &q, out)
}

// heardTooLong lets this member propose nothing for a lease, because there is a holder, although this member cannot
// support it, or record its claim. While leases are changed from host to host it would else promise one newer epoch to
// itself after the other, and refuse each token: in a ring, the members behind it would have no turn. A holder that
// only probes has no majority.
func (b *Machine) heardTooLong(now policy.Time, q *question) {
	if q.kind == KindRenew && q.asks != probes {
		b.supporter.tooLong = now.Add(b.cfg.Lease)
	}
}

// supportSelf puts the question to this member itself. The answer may have to wait for a save, too.
func (b *Machine) supportSelf(now policy.Time, q *question, end *Outcome, out []policy.Effect) []policy.Effect {
	s := &b.supporter
	b.calm(now)
	judged := s.judge(now, q)
	if judged {
		b.judgeClaim(now, q, true)
		b.judgeSoak(now, q)
	}
	out = b.tellAway(out)
	switch {
	case !judged:
	case s.unsaved:
		b.cfg.Marks.Hit(markOwnWaits)
		s.waiting = *q
	default:
		return b.countSelf(now, q, end, out)
	}
	return out
}

// countSelf counts this member's own answer.
func (b *Machine) countSelf(now policy.Time, q *question, end *Outcome, out []policy.Effect) []policy.Effect {
	b.countOwnClaim(now, q)
	return b.count(now, b.cfg.Self, &Copy{}, end, out)
}

// OnSaved must be called when the save that NeedsSave asked for is durable, or has failed. It sends the answer that has
// waited for the save: "saved before the message that depends on them leaves" (rule 2). If the save failed, there is no
// answer, and the asking member asks again.
func (b *Machine) OnSaved(now policy.Time, failed bool, end *Outcome, out []policy.Effect) []policy.Effect {
	s := &b.supporter
	if !s.saving {
		return out
	}
	q := s.waiting
	s.unsaved, s.saving, s.waiting = failed, false, question{}
	out = b.unreleasedSaved(out)
	switch {
	case b.holder.unkeeps && (b.round.kind == 0 || b.round.asks != unkeeps):
		b.cfg.Marks.Hit(markUnkeepSaved)
		return b.unkeepSaved(now, end, out) // Whoever waits for an answer asks again.
	case q.kind == 0:
		if b.holder.keeps && b.isKept() && end.Ending == Pending {
			end.Ending, end.Token = Renewed, b.holder.token
		}
		return out
	case failed:
		b.cfg.Marks.Hit(markNotSaved)
		return policy.AppendTell(out, NoteNotSaved, b.id(q.rank), &q.token)
	case q.rank != b.cfg.Self:
		return b.support(now, &q, out)
	case q.number == b.round.number:
		return b.countSelf(now, &q, end, out)
	}
	return out
}

// support answers a question with yes. A Promised carries the newest copy (rule 10).
func (b *Machine) support(now policy.Time, q *question, out []policy.Effect) []policy.Effect {
	l := load{clock: now, life: b.life}
	if q.kind == KindRenew {
		l.number = uint64(b.proposer.waits(q.token.Seq, b.cfg.Roster.Len()))
		c := &b.supporter.claim
		refuses := q.claims > 0 && q.asks != probes && !b.supporter.supports(q)
		if refuses {
			b.cfg.Marks.Hit(markClaimOfAnother)
			l.span = max(c.Until.Sub(now), 1)
		}
		if out = b.answer(KindRenewed, q, l, out); refuses {
			copy(out[len(out)-1].Msg.Load[copyAt:], c.By[:])
		}
		return out
	}
	l.number = uint64(b.copy.Seq)
	out = b.answer(KindPromised, q, l, out)
	copy(out[len(out)-1].Msg.Load[copyAt:], b.copy.Data[:])
	return out
}

// refuse answers a question with no: "busy until" and "promised e′".
func (b *Machine) refuse(now policy.Time, q *question, out []policy.Effect) []policy.Effect {
	s := &b.supporter
	l := load{span: max(s.busyUntil().Sub(now), 0), number: uint64(s.promised), clock: now, life: b.life}
	return b.answer(KindRefused, q, l, out)
}

// RefuseToken answers a Token that this member does not accept, because it has promised a newer epoch, or because the
// owner has met the token of one, whose number is met. Without an answer, the sender would offer the Token until its
// lease ends.
func (b *Machine) RefuseToken(now policy.Time, m *wire.Message, met wire.Seq, out []policy.Effect) []policy.Effect {
	b.cfg.Marks.Hit(markRefusesToken)
	rank, _ := b.cfg.Roster.Rank(m.From)
	l := load{
		span: max(b.supporter.busyUntil().Sub(now), 0), number: uint64(max(b.supporter.promised, EpochOf(met))),
		clock: now, life: b.life,
	}
	return b.answer(KindRefused, &question{rank: rank, number: m.Exchange, token: m.Token}, l, out)
}

func (b *Machine) answer(kind wire.Kind, q *question, l load, out []policy.Effect) []policy.Effect {
	m := b.message(kind, q.rank, &q.token, q.number, l)
	return policy.AppendSend(out, &m)
}

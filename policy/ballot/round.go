package ballot

import (
	"math/bits"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// round is one question to all members of the roster: a Promise of a proposer, or a Renew of the holder. Its messages
// have one number.
//
// "D = s + H, H = L(1−ρ)/(1+ρ), s = the M-th latest local send time among its questions that distinct members answered,
// each answer matched to its own question by number; read before the datagram leaves." (rule 5) All questions of a
// round count as sent when the round began, before any was sent. An answer counts only in its own round. So s is never
// later than the rule's s.
type round struct {
	// kind is zero if there is no round.
	kind   wire.Kind
	number wire.Exchange
	token  wire.Ref
	began  policy.Time
	// asked is true once the questions were sent; won, once M members have answered with yes.
	asked, won bool
	// asks is what a Renew asks for.
	asks    asks
	yes, no ranks
	// claims is the interval that a Renew claims, or lifts; claimed are the members that have recorded the claim: see
	// claim.go.
	claims  policy.Time
	claimed ranks
	// outbid are the members that have promised a newer epoch than that of a grant that is taken up again.
	outbid ranks
	// wait is how long after sentAt the question is repeated to members that have not answered.
	sentAt policy.Time
	wait   time.Duration
	endAt  policy.Time
	// freeAt is the earliest end of a lease that a refusing member has reported.
	freeAt policy.Time
	// awaits is the oldest epoch of the reported leases.
	awaits Epoch
}

// ranks is a set of members of the roster.
type ranks [MaxRoster / 64]uint64

func (s *ranks) has(rank int) bool { return s[rank/64]>>(rank%64)&1 != 0 }

// add reports whether the member was not in the set.
func (s *ranks) add(rank int) bool {
	is := s.has(rank)
	s[rank/64] |= 1 << (rank % 64)
	return !is
}

func (s *ranks) remove(rank int) { s[rank/64] &^= 1 << (rank % 64) }

// hasAll reports whether every member of o is in s.
func (s *ranks) hasAll(o *ranks) bool {
	for i := range s {
		if o[i]&^s[i] != 0 {
			return false
		}
	}
	return true
}

func (s *ranks) len() (n int) {
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// repeatsPerPatience is how often at most a question is repeated in the first patience.
const repeatsPerPatience = 4

// begin begins a round, in place of any other. The questions are not sent yet.
func (b *Machine) begin(now policy.Time, kind wire.Kind, token *wire.Ref, lasts time.Duration) question {
	b.round = round{
		kind: kind, number: wire.Exchange(policy.Draw(b.cfg.Entropy)), token: *token, began: now,
		endAt: now.Add(lasts), freeAt: policy.Never,
	}
	return question{
		kind: kind, rank: b.cfg.Self, from: b.id(b.cfg.Self), number: b.round.number, token: *token,
		lease: b.cfg.Lease,
	}
}

// ask sends the question to all other members that have not answered it.
func (b *Machine) ask(now policy.Time, out []policy.Effect) []policy.Effect {
	r := &b.round
	if r.asked {
		r.wait *= 2
	} else {
		r.wait = b.cfg.Patience / repeatsPerPatience
	}
	r.asked, r.sentAt = true, now
	l := load{span: b.leaseOf(r.asks), number: uint64(r.asks), clock: r.claims}
	if r.kind == KindRenew {
		l.life = b.holder.claim.life
	}
	if r.asks == soaks {
		l.clock = max(b.holder.soakUntil-now, 0)
	}
	for rank := range b.cfg.Roster.Len() {
		if rank != b.cfg.Self && !r.yes.has(rank) && !r.no.has(rank) {
			m := b.message(r.kind, rank, &r.token, r.number, l)
			out = policy.AppendSend(out, &m)
		}
	}
	return out
}

func (r *round) repeatAt(majority int) policy.Time {
	done := r.won && r.asks != unkeeps && (r.claims <= 0 || r.claimed.len() >= majority)
	if done || !r.asked {
		return policy.Never
	}
	return r.sentAt.Add(r.wait)
}

// leaseOf is the lease for which a Renew of that kind asks.
func (b *Machine) leaseOf(what asks) time.Duration {
	switch {
	case what != keeps:
		return b.cfg.Lease
	case b.cfg.Keep == 0: // The setting has changed since the grant that is taken up again.
		return b.supporter.kept.For
	}
	return b.cfg.Keep
}

// heard returns the members that have answered, and this member itself.
func (r *round) heard(self int) (s ranks) {
	for i := range s {
		s[i] = r.yes[i] | r.no[i]
	}
	s.add(self)
	return s
}

// answersTo reports whether m answers the question of the round.
func (r *round) answersTo(m *wire.Message) bool {
	switch {
	case m.Exchange != r.number:
		return false
	case r.kind == KindPromise:
		return m.Kind == KindPromised || m.Kind == KindRefused
	case r.kind == KindRenew:
		return m.Kind == KindRenewed || m.Kind == KindRefused
	}
	return false
}

// count counts a member that supports the round.
func (b *Machine) count(now policy.Time, rank int, carried *Copy, end *Outcome, out []policy.Effect) []policy.Effect {
	r := &b.round
	if !r.yes.add(rank) {
		return out
	}
	b.overlong.by.remove(rank)
	majority := r.yes.len() >= b.cfg.Roster.Majority()
	switch {
	case r.kind == KindPromise:
		return b.onPromised(now, rank, majority, carried, end, out)
	case majority && !r.won:
		r.won = true
		if r.asks == probes {
			b.cfg.Marks.Hit(markProbed)
			return b.renew(now, end, out)
		}
		return b.onRenewed(now, end, out)
	case r.won && (b.holder.claim.has || b.holder.claim.taken):
		b.cfg.Marks.Hit(markClaimDecided)
		b.tellTaken(end)
	}
	return out
}

// onRefused counts a member that does not support the round. "a refusal with a newer epoch ends its token for good"
// (rule 6)
func (b *Machine) onRefused(now policy.Instant, m *wire.Message, rank int, end *Outcome,
	out []policy.Effect,
) []policy.Effect {
	r, l := &b.round, loadOf(&m.Load)
	if !believable(Epoch(l.number), now.Wall) {
		b.cfg.Marks.Hit(markRefusedUnbelieved)
		return policy.AppendTell(out, NoteEpochRefused, m.From, &m.Token)
	}
	r.no.add(rank)
	b.seen = max(b.seen, Epoch(l.number))
	if l.span > 0 {
		b.cfg.Marks.Hit(markBusy)
		// "busy until" is no longer than any lease: a member that names a longer time would keep this one from ever
		// asking again.
		r.freeAt = min(r.freeAt, now.Time.Add(min(l.span, b.cfg.MostLease)))
		if e := Epoch(l.number); r.awaits == 0 || e < r.awaits {
			r.awaits = e
		}
	}
	out = b.refusedAsOverlong(now.Time, rank, allowedOf(&m.Load), out)
	out = b.refusedBy(m.From, Epoch(l.number), now.Time, end, out)
	if r.kind == KindPromise && b.cfg.Roster.Len()-r.no.len() < b.cfg.Roster.Majority() {
		b.cfg.Marks.Hit(markRefusedByMost)
		return b.withdraw(now.Time, out)
	}
	b.hasten(now.Time)
	return out
}

// hasten ends an attempt that is blocked by a lease two patiences after those have answered that had answered the last
// attempt. The lease may be that of another proposer: two that both wait for a member that is deaf would block each
// other again and again.
func (b *Machine) hasten(now policy.Time) {
	if r := &b.round; r.kind == KindPromise && r.freeAt != policy.Never {
		if heard := r.heard(b.cfg.Self); heard.hasAll(&b.proposer.heard) {
			b.cfg.Marks.Hit(markHastens)
			r.endAt = min(r.endAt, now.Add(2*b.cfg.Patience))
		}
	}
}

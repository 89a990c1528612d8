package ballot

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// holder is what the member that holds the token knows of its lease.
type holder struct {
	holds bool
	token wire.Ref
	// until is D: the holder may run only before D.
	until policy.Time
	// needs is true while the holder renews its lease. lapsed is true if no majority has renewed it in time.
	needs, lapsed bool
	// contester is a member that has promised a newer epoch and refused to renew while the lease was running; zero if
	// there is none.
	contester wire.MemberID
	// awaited is how long a member that has renewed the lease waits without being served.
	awaited waiting
	// keeps is true while the holder asks for a lease that outlives its host, kept once a majority has given one, and
	// unkeeps while it ends such a lease.
	keeps, kept, unkeeps bool
	// answered is true if a majority has renewed a kept lease since somebody wanted to know.
	answered bool
	claim    claiming
	// soakUntil is when the soak of this host is over; zero if it does not soak.
	soakUntil policy.Time
}

// lasting returns the least time that another clock shows while one clock counts span. If the other clock counts this
// time from an earlier event, it is over before span is. "Every clock runs within 1 ± ρ of true time" and "H =
// L(1−ρ)/(1+ρ)".
func lasting(span time.Duration, rho float64) time.Duration {
	return time.Duration(float64(span) * (1 - rho) / (1 + rho))
}

// Accepts reports whether a token may be accepted. It is asked when the token is offered, and again when the token
// arrives: "Nothing of an epoch below promised is accepted." (rule 7) The epoch must also have a number for the next
// hop.
func (b *Machine) Accepts(seq wire.Seq) bool {
	return !b.IsOutdated(seq) && !isLastHop(seq)
}

// IsOutdated reports whether a token is of an epoch below promised.
func (b *Machine) IsOutdated(seq wire.Seq) bool { return EpochOf(seq) < b.supporter.promised }

// Hold must be called when a token has arrived by a handoff and the owner keeps the token; Accepts must be true. The
// token gets the number of its next hop. took is the time since this member first sent the Ack. left is the rest of the
// sender's lease when the sender got this Ack, or zero. Both are in the handoff's outcome. An open proposal is
// withdrawn.
//
// "Receiver: runs only with its own M renewals, or with an inherited end D′ = (its own time of sending the Ack) +
// r(1−ρ)/(1+ρ), r = what the sender had left when it had that Ack. Never from the receipt." (rule 8)
func (b *Machine) Hold(now policy.Time, token *wire.Ref, took, left time.Duration,
	out []policy.Effect,
) []policy.Effect {
	out = b.Desist(now, out)
	until := now
	if left > 0 {
		until = now.Add(-took).Add(lasting(min(left, b.held), b.cfg.Rho))
	}
	b.hold(token, until)
	b.holder.token.Seq++
	return out
}

func (b *Machine) hold(token *wire.Ref, until policy.Time) {
	b.holder = holder{holds: true, token: *token, until: until}
}

// Token returns the token that this member holds, with its present number, or nil.
func (b *Machine) Token() *wire.Ref {
	if !b.holder.holds {
		return nil
	}
	return &b.holder.token
}

// Spent reports whether the token that this member holds has the last number of its epoch: it can neither be passed nor
// run. The holder releases it, and proposes a new epoch.
func (b *Machine) Spent() bool { return b.holder.holds && isLastHop(b.holder.token.Seq) }

// Contested reports whether a member has promised a newer epoch while the lease was running: such a member no longer
// accepts this token. The holder finishes its run, releases the token, and passes it to no other member.
func (b *Machine) Contested() bool { return b.holder.holds && !b.holder.contester.IsZero() }

// Awaited reports whether, since the token came here, a member that renewed the lease has reported that it waits and
// would propose a new epoch.
func (b *Machine) Awaited() bool { return b.holder.awaited >= waits }

// Starves reports whether such a member has waited while the token could have been with each member: it goes round
// among others, and the ring or tree does not know of the one that waits.
func (b *Machine) Starves() bool { return b.holder.awaited == waitsLong }

// Need starts the renewals of the lease, the first at once and then again and again, because the holder is about to
// run, runs, or passes the token on. "An idle holder lets its lease go and renews when demand comes: one majority round
// trip before the grant, silence in between."
func (b *Machine) Need(now policy.Time, end *Outcome, out []policy.Effect) []policy.Effect {
	h := &b.holder
	if !h.holds || h.needs {
		return out
	}
	h.needs, h.lapsed = true, false
	return b.renew(now, end, out)
}

// Rest ends the renewals: the holder does not need its lease for now.
func (b *Machine) Rest() {
	b.holder.needs, b.holder.unkeeps = false, false
	if b.round.kind == KindRenew {
		b.round = round{}
	}
}

// LetGo must be called when the token has been passed on, or was discarded. A holder that discards its token may
// Release it instead.
func (b *Machine) LetGo() {
	b.Rest()
	b.holder = holder{}
}

// renewEvery is the time from one renewal to the next. If a renewal fails, the second one after it is still in time:
// "the lease must exceed two renewals + kill-after + kill margin + a round trip".
func (b *Machine) renewEvery() time.Duration {
	return (b.held - b.cfg.KillAfter - b.cfg.Margin) / renewals
}

// renewals is how many renewals begin before the command is told to stop.
const renewals = 3

func (b *Machine) renew(now policy.Time, end *Outcome, out []policy.Effect) []policy.Effect {
	what, r, h := renews, &b.round, &b.holder
	switch {
	case r.kind == KindRenew && r.asks == unkeeps:
		b.cfg.Marks.Hit(markUnkeptUnanswered)
		h.unkeeps = false // All have been asked for long enough.
	case h.unkeeps && b.supporter.unsaved:
		b.cfg.Marks.Hit(markUnkeepUnsaved)
		b.supporter.eager = true // The save has failed.
	case r.kind == KindRenew && !r.won:
		b.cfg.Marks.Hit(markProbes)
		what = probes
	case h.keeps && r.kind == KindRenew:
		what = keeps // Only now, since a majority has answered: whoever hears nobody asks for no long lease.
	case now < h.soakUntil:
		what = soaks
	}
	return b.renewAs(now, what, end, out)
}

func (b *Machine) renewAs(now policy.Time, what asks, end *Outcome, out []policy.Effect) []policy.Effect {
	claims := b.holder.claims(what)
	if claims > 0 && !b.claimsAgain(now, end) {
		claims = 0
	}
	q := b.begin(now, KindRenew, &b.holder.token, b.renewEvery())
	q.asks, b.round.asks, q.lease = what, what, b.leaseOf(what)
	q.claims, b.round.claims, q.life = claims, claims, b.holder.claim.life
	if what == soaks {
		q.soak = b.holder.soakUntil.Sub(now)
	}
	if what == keeps { // It is saved here, too, even if this member may not vote because it was restarted.
		b.supporter.keep(&q)
		b.supporter.eager = b.supporter.unsaved
	}
	out = b.ask(now, out)
	return b.supportSelf(now, &q, end, out)
}

// onRenewed moves the end of the holder's time.
func (b *Machine) onRenewed(now policy.Time, end *Outcome, out []policy.Effect) []policy.Effect {
	h, lasts := &b.holder, b.held
	if b.round.asks == keeps {
		h.kept, h.answered, lasts = true, true, lasting(b.leaseOf(keeps), b.cfg.Rho)
	}
	h.until, h.lapsed = max(h.until, b.round.began.Add(lasts)), false
	end.Ending, end.Token = Renewed, h.token
	if h.keeps && b.round.asks == renews {
		return b.renew(now, end, out)
	}
	return out
}

// Until returns D: at D nothing is left of the command. D is the Until of an Extend, and the end of the lease that a
// handoff lends.
func (b *Machine) Until() policy.Time { return b.holder.until }

// Fence returns when a command under a lease until D is told to end, and when it is killed.
//
// "Self-fence: TERM at D − kill margin − kill-after, KILL at D − kill margin, by the guard process, outside the
// command's process group, which knows D and needs no word from the agent" (rule 6)
func (c *Config) Fence(until policy.Time) (term, kill policy.Time) {
	kill = until.Add(-c.Margin)
	return kill.Add(-c.KillAfter), kill
}

// Run appends the grant of a run with its end, and the messages that the guard sends if the agent dies. The token gets
// the number of its next hop. If the lease is too short now, Run appends nothing, and ok is false: "No grant starts
// with less than kill-after + margin left. A holder past D keeps the token but runs nothing" (rule 6)
func (b *Machine) Run(now policy.Time, out []policy.Effect) (_ []policy.Effect, ok bool) {
	h := &b.holder
	startBy, _ := b.cfg.Fence(h.until)
	if !h.holds || now >= startBy || isLastHop(h.token.Seq) || b.overlong.isBlocked(b.cfg.Roster) ||
		h.keeps && !b.isKept() || h.lacksClaim() {
		b.cfg.Marks.Hit(markShort)
		return out, false
	}
	b.useClaim()
	h.token.Seq++
	out = policy.AppendRun(out, &h.token, startBy)
	out[len(out)-1].Until = h.until
	if h.kept {
		return out, true // Whoever dies under a kept grant may be on its way down, and releases nothing.
	}
	return b.preSign(out), true
}

// refusedBy handles a refusal. "a refusal with a newer epoch ends its token for good" (rule 6). Without a lease, the
// token ends at once. With a lease, the holder runs on, and the token ends with the lease: only a majority of such
// refusals shows that the newer epoch is more than a proposal.
func (b *Machine) refusedBy(by wire.MemberID, newer Epoch, now policy.Time, end *Outcome,
	out []policy.Effect,
) []policy.Effect {
	h := &b.holder
	if h.holds && newer > EpochOf(h.token.Seq) && (now < h.until || b.mayBeKept(by)) {
		b.cfg.Marks.Hit(markContested)
		h.contester = by
		return out
	}
	return b.overtaken(newer, by, end, out)
}

// Outbids reports whether m, a Refused, reports that its sender has promised a newer epoch than that of the token here.
// This member's next proposal is above the newer epoch.
func (b *Machine) Outbids(now policy.Instant, m *wire.Message) bool {
	l := loadOf(&m.Load)
	newer := Epoch(l.number)
	if !b.holder.holds || newer <= EpochOf(b.holder.token.Seq) || l.roster != b.cfg.Roster.Hash() ||
		!believable(newer, now.Wall) {
		return false
	}
	b.cfg.Marks.Hit(markOutbid)
	b.seen = max(b.seen, newer)
	return true
}

// overtaken ends the token of this member for good if another member has promised a newer epoch. The command, if one
// runs, must be stopped.
func (b *Machine) overtaken(newer Epoch, by wire.MemberID, end *Outcome, out []policy.Effect) []policy.Effect {
	if !b.holder.holds || newer <= EpochOf(b.holder.token.Seq) {
		return out
	}
	return b.endToken(by, end, out)
}

func (b *Machine) endToken(by wire.MemberID, end *Outcome, out []policy.Effect) []policy.Effect {
	b.cfg.Marks.Hit(markEnded)
	end.Ending, end.Peer, end.Token = Ended, by, b.holder.token
	out = policy.AppendTell(out, NoteEnded, by, &b.holder.token)
	b.LetGo()
	return out
}

// lapse notes, once, that the lease has ended although the holder needs it.
func (b *Machine) lapse(end *Outcome, out []policy.Effect) []policy.Effect {
	b.cfg.Marks.Hit(markLapsed)
	b.holder.lapsed = true
	out = policy.AppendTell(out, NoteNoMajority, wire.MemberID{}, &b.holder.token)
	if b.Contested() {
		b.cfg.Marks.Hit(markLapsedContested)
		return b.endToken(b.holder.contester, end, out)
	}
	return out
}

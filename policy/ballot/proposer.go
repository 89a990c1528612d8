package ballot

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// proposer is a member that wants a new epoch.
type proposer struct {
	wants bool
	// met is the number of the holder's first renewal in this epoch since it wants one.
	met wire.Seq
	// failures is the number of failed attempts in a row.
	failures uint8
	// alone is how many attempts in a row have ended since this member has heard another one.
	alone uint8
	// turn is how long it lets others go first, whenever a new epoch becomes possible.
	turn time.Duration
	// notBefore is the earliest time of the next attempt.
	notBefore policy.Time
	// awaits is the oldest of the epochs whose leases blocked the last attempt.
	awaits Epoch
	// unheard is true if less than a majority has answered the last attempt; heard is the set of members that have
	// answered.
	unheard bool
	heard   ranks
}

// waiting is whether a member wants a new epoch, and for how long.
type waiting uint8

const (
	waitsNot waiting = iota
	// waits: it would propose as soon as the lease ends.
	waits
	// waitsLong: meanwhile the token of this epoch has had hops for more than a turn of each member.
	waitsLong
)

// hopsPerTurn is how many hops a token has for the turn of a member at most: of the run, of what ends it, and of the
// handoff, for a member that had its turn and one that had not.
const hopsPerTurn = 8

// waits returns whether this member waits, when it renews the lease of a token.
func (p *proposer) waits(renews wire.Seq, members int) waiting {
	if !p.wants {
		return waitsNot
	}
	if EpochOf(p.met) != EpochOf(renews) {
		p.met = renews
	}
	if renews > p.met+wire.Seq(hopsPerTurn*members) {
		return waitsLong
	}
	return waits
}

// holdOff lets the other members propose first, after this one has given up an epoch for them. Without it the same
// member would propose first, and win, again and again.
type holdOff struct {
	// others is how many others go first, by is how long this member waits for each of them, and ran are those that
	// have run.
	others int
	by     time.Duration
	ran    ranks
	// until is when all of them could have run. One that proposes again and again, but hears no answer, must not keep
	// this member waiting: each of its proposals is a lease here.
	until policy.Time
}

// mostDoublings is how often the pause between two attempts is doubled at most.
const mostDoublings = 4

// Propose tells the ballot that a new epoch is wanted here, because no holder answers. An attempt follows as soon as
// the lease that this member has given, and then turn, have passed. Attempts go on until one succeeds (Won), a token
// arrives (Hold), or Desist is called. "Rank: backups (nested detection sets, queue positions) decide who proposes
// when" (rule 10). The owner chooses turn, 0 or more: a few round trips for each rank.
func (b *Machine) Propose(now policy.Time, turn time.Duration) {
	if b.holder.holds {
		return
	}
	b.proposer = proposer{wants: true, turn: turn}
	b.proposer.notBefore = b.turnAfter(now)
}

// HoldOff lets each other member run once before this one proposes again, also if a token comes here meanwhile; this
// member waits within for each of these runs, and altogether for no longer than within and a lease for each. It is for
// a holder that is about to release its token because other members propose. Else those that propose fast would pass
// token after token to each other, and release them for one that never comes to propose.
func (b *Machine) HoldOff(now policy.Time, within time.Duration) {
	others := b.cfg.Roster.Len() - 1
	b.holdOff = holdOff{others: others, by: within, until: now.Add(time.Duration(others) * (within + b.cfg.Lease))}
}

// turnAfter is until when this member lets others go first if a new epoch becomes possible at that time.
func (b *Machine) turnAfter(possible policy.Time) policy.Time {
	at := possible.Add(b.proposer.turn)
	if h := &b.holdOff; h.ran.len() < h.others {
		at = max(at, min(at.Add(h.by), h.until))
	}
	return at
}

// Proposing reports whether a new epoch is wanted here.
func (b *Machine) Proposing() bool { return b.proposer.wants }

// Desist ends the proposals: no new epoch is wanted here any more.
func (b *Machine) Desist(now policy.Time, out []policy.Effect) []policy.Effect {
	b.proposer = proposer{}
	if b.round.kind == KindPromise {
		out = b.withdraw(now, out)
	}
	return out
}

// proposeAt is when this member makes its next attempt. One whose disk has not taken its last promise yet would win
// none: with each promise it would refuse the tokens of older epochs, and end them.
func (b *Machine) proposeAt() policy.Time {
	if s := &b.supporter; s.unsaved && s.saving {
		return policy.Never
	}
	return max(b.proposer.notBefore, b.turnAfter(max(b.supporter.busyUntil(), b.supporter.tooLong)))
}

// propose begins an attempt: this member promises the epoch to itself, and asks the others when this promise is saved.
func (b *Machine) propose(now policy.Instant, end *Outcome, out []policy.Effect) []policy.Effect {
	e, ok := epochAfter(max(b.seen, b.supporter.promised), now.Wall, b.cfg.Self)
	switch {
	case !ok:
		b.cfg.Marks.Hit(markNoEpochs)
		b.proposer.notBefore = policy.Never
		return policy.AppendTell(out, NoteNoEpochs, wire.MemberID{}, nil)
	case !believable(e, now.Wall):
		// some member has raised the numbers to the bound: no member would promise e before the clocks have reached it
		b.cfg.Marks.Hit(markEpochAhead)
		b.proposer.notBefore = now.Time.Add(time.Second)
		return out
	}
	b.seen = e
	token := e.Token(b.id(b.cfg.Self))
	out = policy.AppendTell(out, NoteProposed, wire.MemberID{}, &token)
	q := b.begin(now.Time, KindPromise, &token, b.held/2)
	return b.supportSelf(now.Time, &q, end, out)
}

// "New epoch: only a proposer with M promises for e, all within H of its sending the question, makes the token (e, 0)."
// (rule 4)
func (b *Machine) onPromised(now policy.Time, rank int, majority bool, carried *Copy, end *Outcome,
	out []policy.Effect,
) []policy.Effect {
	r := &b.round
	end.Ending, end.Peer, end.Copy = Promised, b.id(rank), *carried
	until := r.began.Add(b.held)
	switch {
	case majority && now < until:
		b.cfg.Marks.Hit(markWon)
		end.Ending, end.Token = Won, r.token
		b.proposer, b.round = proposer{}, round{}
		b.hold(&end.Token, until)
		return policy.AppendTell(out, NoteWon, wire.MemberID{}, &end.Token)
	case rank == b.cfg.Self && !r.asked:
		b.cfg.Marks.Hit(markAsks)
		r.endAt = min(now.Add(b.attempt()), until)
		return b.ask(now, out)
	}
	b.hasten(now)
	return out
}

// attempt is how long the others have to promise: two patiences, and longer with each failure, because their disks may
// be slow.
func (b *Machine) attempt() time.Duration {
	return min(2*b.cfg.Patience<<b.proposer.failures, b.held/2)
}

// "Too few: it withdraws (supporters end the lease of e and keep promised; e is never used again). Without withdrawing,
// proposers block each other for a lease at a time" (rule 4)
//
// If leases blocked this attempt, the next attempt waits until the first of these leases ends.
func (b *Machine) withdraw(now policy.Time, out []policy.Effect) []policy.Effect {
	r, p := b.round, &b.proposer
	b.round = round{}
	b.supporter.release(now, r.token.Seq)
	if r.asked {
		b.cfg.Marks.Hit(markWithdraws)
		out = b.tellReleased(&r.token, out)
	}
	free := now
	if r.freeAt != policy.Never {
		b.cfg.Marks.Hit(markBlocked)
		free = b.turnAfter(r.freeAt)
	}
	p.notBefore = free.Add(b.pause())
	p.failures = min(p.failures+1, mostDoublings)
	p.awaits = r.awaits
	p.heard = r.heard(b.cfg.Self)
	p.unheard = p.heard.len() < b.cfg.Roster.Majority()
	p.alone = min(p.alone+1, mostAlone)
	return policy.AppendTell(out, NoteWithdrew, wire.MemberID{}, &r.token)
}

// pause draws the pause before an attempt: it is random, so that two proposers do not meet again, and grows with each
// failure.
//
// A member that sends and does not hear proposes in vain, and each of its proposals is a lease with the others. Several
// of them would leave these no time for a token of their own. So who has heard nobody for some attempts waits for some
// leases, until it hears somebody.
func (b *Machine) pause() time.Duration {
	spread := b.cfg.Patience << b.proposer.failures
	if p := &b.proposer; p.alone > patientAlone {
		b.cfg.Marks.Hit(markAlone)
		spread = max(spread, time.Duration(p.alone-patientAlone)*2*b.cfg.Lease)
	}
	return b.cfg.Patience/2 + time.Duration(b.cfg.Entropy.Uint64()%uint64(spread))
}

// A member that hears nobody pauses longer after patientAlone attempts, and longest after mostAlone.
const (
	patientAlone = 4
	mostAlone    = 8
)

// Heard tells the ballot that this member hears another one, or sees others than before: a pause that was long because
// it heard nobody ends.
func (b *Machine) Heard(now policy.Time) {
	p := &b.proposer
	long := p.alone > patientAlone
	if p.alone = 0; long && p.wants && b.round.kind == 0 {
		b.cfg.Marks.Hit(markHearsAgain)
		p.notBefore = min(p.notBefore, now.Add(b.pause()))
	}
}

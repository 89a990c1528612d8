// Package ballot gives one member of a strict gate at a time the right to run: leases (Gray, Cheriton) on promises
// (Paxos) by a majority of a fixed roster. It has no log and no leader. Any token protocol with a roster can use its
// machine: it answers "may I make a new token?", and gives the holder its lease.
//
//	proposer              members of the roster
//	  promises e to itself, saves
//	  ── Promise(e) ─────────▶  lease of an older epoch over? promises e, saves
//	  ◀───────── Promised(e) ─
//	  a majority: makes the token (e, 0), and is its holder
//
//	holder, while it needs its lease
//	  ── Renew(e) ───────────▶  has promised nothing newer: a lease, from now
//	  ◀────────── Renewed(e) ─
//	  a majority: may run until D, a lease from when it began to ask, less the drift of clocks
//
// Even with two tokens, two commands never run at once, as long as all clocks run within 1 ± ρ of true time. Within an
// epoch there is one token, by the rules of a handoff. The majorities of two epochs share a member. This member
// answered the older epoch before it promised the newer one, and promised only after the older lease had ended on its
// clock. In true time, the older holder's D is before the end of this lease. After the promise, the member refuses the
// older epoch. "A handoff during a round is harmless: either its receiver renews at a member first, and the round
// fails, or the members have promised, and the receiver cannot run. Two revivals are two epochs; Seq tells them apart."
//
// # Embedding
//
// The owner is a protocol's machine. It has the token, decides which member gets the token next, and when a new token
// is wanted. In its Step:
//
//   - Started: [Machine.Start] with the saved state. The first [MemoSize] bytes of its memo are the ballot's.
//   - Saved: [Machine.OnSaved].
//   - Received, of a kind from [KindPromise] to [KindRelease]: [Machine.Receive]. A Token of a handoff that
//     [Machine.Accepts] refuses is dropped.
//   - Woke: [Machine.Wake].
//   - A token is wanted and no holder answers: [Machine.Propose]; the outcome Won has the token. The outcomes Promised
//     and Won carry the copy that the promising member has kept ([Machine.Keep]): "the new epoch starts from the
//     greatest" (rule 10).
//   - A handoff ended here: [Machine.Hold], or nothing if Accepts is false now. The ballot counts the hops:
//     [Machine.Token] has the present number.
//   - This member wants to run: [Machine.Need], and [Machine.Run], which appends the grant if the lease suffices. If
//     not, call Run again at the outcome Renewed. Every further Renewed is an Extend to [Machine.Until].
//   - The run has ended: now, and not before, the token may be offered. Its Commit lends the rest of the lease
//     (handoff's Lend). After the token was passed: [Machine.LetGo]. If the token is [Machine.Spent] instead:
//     [Machine.Release] and Propose.
//   - A run has ended, and the token is [Machine.Contested]: [Machine.HoldOff], Release and Propose, because other
//     members may refuse the token.
//   - Until [Machine.Overlong], this member must not run, ask for the token, or propose.
//   - The outcome Ended: the token is over. The owner discards it and stops the run.
//   - At the end of each step: if [Machine.NeedsSave], a Save of a state with [Machine.Memo] in it.
//
// Package policytest has the smallest machine that does all this.
//
// The package never chooses a receiver, starts no command, and reads no clock: time is boot time, which goes on while a
// host is suspended.
//
// Its decisions, in docs/decisions: 060, 061, 062, 097, 100, 112.
package ballot

import (
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/marks"
	"github.com/wanderd/wanderd/wire"
)

// Config configures the ballots of a gate. [Config.Check] finds invalid values.
type Config struct {
	Gate   wire.GateID
	Roster *Roster
	// Self is the rank of this member.
	Self int
	// Lease is L, the time for which a member promises no other epoch.
	Lease time.Duration
	// MostLease is the longest lease that any member of the roster may ask for. A member without a saved state waits
	// for this time, or for Keep, after its start. At least Lease.
	MostLease time.Duration
	// Keep is how long a grant outlives the last word of its holder, if the holder asks for that: see keep.go. Zero: no
	// member may ask for it.
	Keep time.Duration
	// Soak is how long a host may soak at most after its operation; zero if none does.
	Soak time.Duration
	// KillAfter is the time from TERM to KILL, Margin the time from KILL to the end of the lease.
	KillAfter, Margin time.Duration
	// Rho is the largest error of a clock's rate: 0.01 is one percent.
	Rho float64
	// Patience is how long an answer may take: a few round trips.
	Patience time.Duration
	// Entropy draws the numbers of questions, and the pauses.
	Entropy policy.Entropy
	// Marks is what this machine's rare branches hit; nil if nobody listens.
	Marks *marks.Marker
}

// Machine is one member's part in the ballots of a gate: supporter always, proposer or holder at times. It is a plain
// value.
type Machine struct {
	cfg Config
	// held is H, the part of a lease on which its holder relies: see lasting.
	held time.Duration
	// life distinguishes the times in this member's answers from the times of its other lives.
	life uint64
	// seen is the newest epoch that this member knows of.
	seen Epoch

	supporter supporter
	proposer  proposer
	holdOff   holdOff
	holder    holder
	round     round
	overlong  overlong
	copy      Copy
	rates     rates
	// unreleased is the number of the token whose leases end when the next save is durable; zero if there is none.
	unreleased wire.Seq
	// outsider and otherRoster are the last members whose messages did not count.
	outsider, otherRoster wire.MemberID
}

// Ending is the kind of result of a call.
type Ending uint8

const (
	// Pending: no result for the owner.
	Pending Ending = iota
	// Promised: Peer has promised the epoch of this member's proposal, and sent Copy. This member's own promise comes
	// with an empty Copy.
	Promised
	// Won: as Promised, and now a majority has promised: this member holds Token.
	Won
	// Renewed: a majority has renewed the lease of Token: Until is later now.
	Renewed
	// Ended: Token, which this member held, is over: Peer knows of a newer epoch.
	Ended
)

// Outcome is the result of a call, written only if there is one. Ending determines which fields are set.
type Outcome struct {
	Ending Ending
	Peer   wire.MemberID
	Token  wire.Ref
	Copy   Copy
}

// New returns a machine that waits for Start.
func New(cfg Config) Machine {
	return Machine{cfg: cfg, held: lasting(cfg.Lease, cfg.Rho), life: policy.Draw(cfg.Entropy)}
}

// Keep sets the newest copy that this member has, for the answers to proposers.
func (b *Machine) Keep(newest *Copy) { b.copy = *newest }

// Expects reports whether m could change anything now.
func (b *Machine) Expects(m *wire.Message) bool {
	return isQuestion(m.Kind) || m.Kind == KindRelease || b.round.answersTo(m)
}

// Meet tells the ballot a number that the owner has met, and believes: the next proposal here is above it.
func (b *Machine) Meet(seq wire.Seq) { b.seen = max(b.seen, EpochOf(seq)) }

// Counts reports whether a message is from another member of the roster whose roster has the given hash. If not, it
// appends a note.
func (b *Machine) Counts(m *wire.Message, roster uint64, out []policy.Effect) (_ []policy.Effect, ok bool) {
	switch rank, is := b.cfg.Roster.Rank(m.From); {
	case !is || rank == b.cfg.Self:
		b.cfg.Marks.Hit(markOutsider)
		b.outsider = m.From
		return policy.AppendTell(out, NoteOutsider, m.From, nil), false
	case roster != b.cfg.Roster.Hash():
		b.cfg.Marks.Hit(markOtherRoster)
		b.otherRoster = m.From
		return policy.AppendTell(out, NoteOtherRoster, m.From, nil), false
	}
	return out, true
}

// Receive handles a message of a ballot, which must be well-formed.
func (b *Machine) Receive(now policy.Instant, m *wire.Message, end *Outcome, out []policy.Effect) []policy.Effect {
	l := loadOf(&m.Load)
	out, counts := b.Counts(m, l.roster, out)
	rank, _ := b.cfg.Roster.Rank(m.From)
	switch {
	case !counts:
		return out
	case !believable(EpochOf(m.Token.Seq), now.Wall):
		b.cfg.Marks.Hit(markUnbelieved)
		return policy.AppendTell(out, NoteEpochRefused, m.From, &m.Token)
	}
	b.Heard(now.Time)
	switch {
	case isQuestion(m.Kind):
		return b.onQuestion(now, m, rank, end, out)
	case m.Kind == KindRelease:
		b.onRelease(now.Time, m)
		return out
	case !b.round.answersTo(m):
		b.cfg.Marks.Hit(markStrayAnswer)
		return policy.AppendTell(out, NoteStrayAnswer, m.From, &m.Token)
	}
	out = b.rates.compare(now.Time, b, m, &l, out)
	if m.Kind == KindRefused {
		return b.onRefused(now, m, rank, end, out)
	}
	if m.Kind == KindRenewed {
		b.holder.awaited = max(b.holder.awaited, waiting(min(l.number, uint64(waitsLong))))
		b.countClaim(now.Time, rank, l.span, wire.MemberID(m.Load[copyAt:]))
	}
	var carried Copy
	if believable(EpochOf(wire.Seq(l.number)), now.Wall) {
		carried.Seq = wire.Seq(l.number)
		copy(carried.Data[:], m.Load[copyAt:])
	}
	return b.count(now.Time, rank, &carried, end, out)
}

// Wake does what is due: it repeats a question, ends a round, or begins the next.
func (b *Machine) Wake(now policy.Instant, end *Outcome, out []policy.Effect) []policy.Effect {
	r, h := &b.round, &b.holder
	if h.needs && !h.lapsed && now.Time >= h.until {
		out = b.lapse(end, out)
	}
	switch {
	case r.kind == KindPromise && now.Time >= r.endAt:
		out = b.withdraw(now.Time, out)
	case r.kind == KindRenew && now.Time >= r.endAt:
		out = b.renew(now.Time, end, out)
	case r.kind != 0 && now.Time >= r.repeatAt(b.cfg.Roster.Majority()):
		out = b.ask(now.Time, out)
	case r.kind == 0 && b.proposer.wants && now.Time >= b.proposeAt():
		out = b.propose(now, end, out)
	}
	return out
}

// NextWake returns when Wake must be called.
func (b *Machine) NextWake() (at policy.Time, ok bool) {
	at = policy.Never
	switch r := &b.round; {
	case r.kind != 0:
		at = min(r.repeatAt(b.cfg.Roster.Majority()), r.endAt)
	case b.proposer.wants:
		at = b.proposeAt()
	}
	if h := &b.holder; h.needs && !h.lapsed {
		at = min(at, h.until)
	}
	return at, at != policy.Never
}

func (b *Machine) id(rank int) wire.MemberID { return b.cfg.Roster.ID(rank) }

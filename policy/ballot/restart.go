package ballot

import (
	"encoding/binary"
	"time"

	"github.com/wanderd/wanderd/policy"
)

// durable is what a member must not forget.
//
// "Durable per gate: the promised epoch, the greatest lease ever promised, the roster's hash; saved before the message
// that depends on them leaves. A proposer saves its own epoch before it asks. Token, leases, nonces and queue are not
// saved." (rule 2)
//
// A proposer promises its own epoch to itself, so this epoch is saved like every promise.
type durable struct {
	promised Epoch
	// greatest is rounded up to whole milliseconds.
	greatest time.Duration
	// kept is the grant that a lease of the promised epoch keeps; zero if there is none.
	kept policy.Kept
	// claim is the interval that a member has claimed, with the support of this one; zero if there is none.
	claim policy.Claim
}

// MemoSize is the number of bytes of a memo, from the first on, that belong to the ballot; the others are its owner's:
//
//	0                8                        12            20
//	| promised epoch | greatest lease in ms   | roster hash | its sums, of 8 bytes each |
const (
	MemoSize = sumsAt + 16

	hashAt = 12
	sumsAt = 20
)

// inMemo returns a lease as it is saved: rounded up.
func inMemo(lease time.Duration) time.Duration {
	return (lease + time.Millisecond - 1).Truncate(time.Millisecond)
}

// longestLease is the longest lease that a memo has room for: seven weeks.
const longestLease = time.Duration(1<<32-1) * time.Millisecond

// NeedsSave reports whether the owner must save its state now, with the bytes of Memo in it. Ask at the end of each
// step. It returns true once for each save; OnSaved must follow.
func (b *Machine) NeedsSave() bool {
	s := &b.supporter
	if !s.unsaved || s.saving || s.waiting.kind == 0 && !s.eager {
		return false
	}
	s.saving, s.eager = true, false
	return true
}

// Memo writes what this member must not forget to the first MemoSize bytes of to.
func (b *Machine) Memo(to *policy.Memo) {
	s := &b.supporter
	binary.BigEndian.PutUint64(to[:8], uint64(s.promised))
	binary.BigEndian.PutUint32(to[8:12], uint32(s.greatest/time.Millisecond))
	binary.BigEndian.PutUint64(to[hashAt:], b.cfg.Roster.hash)
	binary.BigEndian.PutUint64(to[sumsAt:], b.cfg.Roster.sums.first)
	binary.BigEndian.PutUint64(to[sumsAt+8:], b.cfg.Roster.sums.squares)
}

// Doubt forgets a saved promise of an epoch that cannot be, according to a clock that reads wall, and returns the
// reason. An older version of this package may have promised a forged epoch, and would keep all others from proposing
// for good. A member that forgets its promise counts like one that has lost its state: it promises nothing for the
// greatest lease. But a host without a battery starts with a clock that is months or years behind, and its promise
// holds. So the clock is believed only if a time server has set it (synced), or if even a clock that is years behind
// could not explain the number.
//
// A kept grant is forgotten with its promise, or if its own number cannot be. Then the greatest lease is forgotten,
// too, so that this member waits for the longest kept lease.
func Doubt(wall int64, synced bool, saved *policy.State) (why string) {
	if !synced && wall >= year2000 {
		wall += int64(mostBehind)
	}
	promised := believable(Epoch(binary.BigEndian.Uint64(saved.Memo[:8])), wall)
	if promised && believable(EpochOf(saved.Kept.Token.Seq), wall) {
		return ""
	}
	if !promised {
		clear(saved.Memo[:8])
	}
	if saved.Kept.Is() {
		saved.Kept = policy.Kept{}
		clear(saved.Memo[8:12])
	}
	return "a promise in the state directory has a number that cannot be by this host's clock; forgot it, and " +
		"promise nothing for the longest lease"
}

// mostBehind is how far behind a clock may be that was never set: as old as the system's image, which sets it at boot.
const mostBehind = 5 * 365 * 24 * time.Hour

// Start begins a life with the state that an earlier life saved, or with zeros: the memo, the kept grant and the claim
// in it.
//
// "Restart: the member never holds; its old command is dead by the guard. Until the greatest lease has passed on its
// clock it neither promises nor supports an epoch other than promised. Afterwards it is an ordinary member. Without a
// state file the same, with the greatest lease that the configuration allows." (rule 9)
//
// A kept lease is not forgotten: how much of it is over is not known, so it lasts for its whole time again.
func (b *Machine) Start(now policy.Time, saved *policy.State) {
	memo, kept := &saved.Memo, &saved.Kept
	d := durable{
		promised: Epoch(binary.BigEndian.Uint64(memo[:8])),
		greatest: time.Duration(binary.BigEndian.Uint32(memo[8:12])) * time.Millisecond,
		claim:    saved.Claim,
	}
	d.claim.Until = min(d.claim.Until, now.Add(d.claim.For)) // The clock may have been set back.
	if kept.Holder == b.id(b.cfg.Self) {
		// This member held a token of that epoch. So a majority has promised it, and nothing runs under an older one.
		d.promised = max(d.promised, EpochOf(kept.Token.Seq))
	}
	if d.greatest == 0 {
		b.cfg.Marks.Hit(markForgotten)
		d.greatest = inMemo(max(b.cfg.MostLease, b.cfg.Keep))
	}
	b.supporter = supporter{
		durable: d, calmAt: now.Add(d.greatest), stands: d.claim.By == b.id(b.cfg.Self),
	}
	b.seen = d.promised
	if s := &b.supporter; kept.Is() && EpochOf(kept.Token.Seq) == d.promised {
		b.cfg.Marks.Hit(markStartsKept)
		s.kept, s.keptAt, s.end = *kept, kept.Token.Seq, now.Add(kept.For)
	}
}

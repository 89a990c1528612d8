package soft

import (
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// One impossibly high number would end fencing for good: no number could be raised above it, even after its sender was
// removed. So a member compares the numbers that it receives with its clock.

// Numbers are the fencing numbers and birth stamps that this member has seen and used.
type Numbers struct {
	// seen is the highest fencing number seen. granted is the highest one that may have been used for a run here.
	// unsaved is the number of a new epoch that may not be saved yet, or zero.
	seen, granted, unsaved wire.Seq
	// newest is the latest birth stamp seen.
	newest int64
}

// Restore continues after an earlier life: with the saved number, and the stamp of the token of the last run.
func (n *Numbers) Restore(seq wire.Seq, birth int64) { n.seen, n.granted, n.newest = seq, seq, birth }

// Inherit takes over what was seen of another token of this member, which comes into use or is one too many.
func (n *Numbers) Inherit(from *Numbers) {
	n.seen, n.newest = max(n.seen, from.seen), max(n.newest, from.newest)
}

// Believes reports whether a token's number is possible: not above the highest that this member has seen, or not above
// the highest that a fleet can have reached by this member's clock.
func (n *Numbers) Believes(now policy.Instant, t *wire.Ref) bool {
	return t.Seq <= n.seen || t.Seq <= wire.LatestSeq(now.Wall)
}

// Witness records the number and the stamp of a token that is offered to this member, even if it never arrives: a new
// token made here must have a higher number and a later stamp. A stamp in the future is not recorded, because it would
// make every later token of this member the youngest. The token is still accepted; if it meets another one, the older
// survives.
func (n *Numbers) Witness(now policy.Instant, msg *wire.Message, out []policy.Effect) []policy.Effect {
	t := &msg.Token
	n.seen = max(n.seen, t.Seq)
	if t.ID.Birth > wire.LatestBirth(now.Wall) {
		return policy.AppendTell(out, NoteBirthRefused, msg.From, t)
	}
	n.newest = max(n.newest, t.ID.Birth)
	return out
}

// forgetFuture forgets the newest stamp if it is in the future: this member's clock has been set back since it saw or
// made that stamp.
func (n *Numbers) forgetFuture(now policy.Instant) {
	if n.newest > wire.LatestBirth(now.Wall) {
		n.newest = 0
	}
}

// Create returns the stamp and the number of a new token. The stamp is this member's clock, but later than every stamp
// that it has seen: "the token tg, generated in response to a timeout for a token tx, has a timestamp larger than tx"
// (Ciuffoletti, section 5.2), also if this clock is slow. The stamp never exceeds what a datagram can carry.
func (n *Numbers) Create(now policy.Instant) (birth int64, seq wire.Seq) {
	n.forgetFuture(now)
	n.newest = min(max(now.Wall, n.newest+1, 0), wire.MaxBirth)
	n.seen = n.seen.NextEpoch()
	n.unsaved = n.seen
	return n.newest, n.seen
}

// Arrived returns the number of a token that arrives with the given one: a number above all that this member has seen.
func (n *Numbers) Arrived(seq wire.Seq) wire.Seq {
	n.seen = max(n.seen, seq).After()
	return n.seen
}

// Revived returns the number of a token that is revived after it had the given one, in an epoch of its own.
func (n *Numbers) Revived(seq wire.Seq, entropy policy.Entropy) wire.Seq {
	n.seen = max(n.seen, seq).Revived(uint8(entropy.Uint64()))
	n.unsaved = n.seen
	return n.seen
}

// Grant returns the number for a run under the held token: each number is used for one run only.
func (n *Numbers) Grant(seq wire.Seq) wire.Seq {
	if seq = n.Passed(seq); seq <= n.granted {
		seq = seq.After()
		n.seen = seq
	}
	n.granted = seq
	return seq
}

// Passed returns the number with which a token is passed on: this member has seen none above it.
func (n *Numbers) Passed(seq wire.Seq) wire.Seq { return max(seq, n.seen) }

// WasGranted reports whether that number may have been used for a run here.
func (n *Numbers) WasGranted(seq wire.Seq) bool { return n.granted == seq }

// MustSave reports whether a token with that number must not leave yet, because a restart would give its number to
// another one.
func (n *Numbers) MustSave(seq wire.Seq) bool { return seq == n.unsaved }

// Saved records that all numbers are saved.
func (n *Numbers) Saved() { n.unsaved = 0 }

// Highest is the highest number that this member has seen.
func (n *Numbers) Highest() wire.Seq { return n.seen }

// IsOld reports whether this member has seen a higher number.
func (n *Numbers) IsOld(seq wire.Seq) bool { return seq < n.seen }

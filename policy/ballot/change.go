package ballot

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/wanderd/wanderd/policy"
)

// sums is a digest of a roster that fits into a memo: the sum of its members' numbers, and the sum of their squares.
// Two rosters differ by one member if the square of the difference of the first sums is the difference of the second
// sums. Other rosters pass this test by chance in one of 10^18 cases.
type sums struct{ first, squares uint64 }

// prime is 2^61 − 1: members' numbers, their sums and squares are computed modulo prime.
const prime = 1<<61 - 1

func square(x uint64) uint64 {
	hi, lo := bits.Mul64(x, x)
	return bits.Rem64(hi, lo, prime)
}

// summed returns the sums of a roster. A member's number is made of its name and key.
func (r *Roster) summed() (s sums) {
	for _, m := range r.members {
		h := sha256.Sum256(append([]byte(m.name+"\x00"), m.id[:]...))
		x := binary.BigEndian.Uint64(h[:]) % prime
		s.first, s.squares = (s.first+x)%prime, (s.squares+square(x))%prime
	}
	return s
}

// less returns s − o.
func (s sums) less(o sums) sums {
	return sums{(s.first + prime - o.first) % prime, (s.squares + prime - o.squares) % prime}
}

// oneMore reports whether s can be the sums of one member.
func (s sums) oneMore() bool { return s.squares == square(s.first) }

// Changes reports whether a memo was saved under another roster.
func (r *Roster) Changes(saved *policy.Memo) bool {
	hash := binary.BigEndian.Uint64(saved[hashAt:])
	return hash != 0 && hash != r.hash
}

// Follows returns an error if members with the old roster, under which a memo was saved, and members with r could each
// have a majority. It returns nil for a memo that was never saved.
//
// "A changed roster can make two disjoint majorities ({a, b} of 3 and {c, d, e} of 5): the saved roster may differ from
// the configured one by one member at a time, unless forced with the gate stopped everywhere." To force a change,
// remove the saved state.
func (r *Roster) Follows(saved *policy.Memo) error {
	was := sums{binary.BigEndian.Uint64(saved[sumsAt:]), binary.BigEndian.Uint64(saved[sumsAt+8:])}
	if !r.Changes(saved) || r.sums.less(was).oneMore() || was.less(r.sums).oneMore() {
		return nil
	}
	return fmt.Errorf("the roster (%s) differs by more than one member from the one before: two majorities could "+
		"differ; change one member at a time on all members",
		r)
}

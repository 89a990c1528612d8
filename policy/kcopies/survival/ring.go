package survival

import (
	"fmt"
	"math/big"
	"sort"
)

// Ring is a token ring of which some members crash; all sets of that many members are equally likely.
type Ring struct {
	members, crashed int
	// all is the number of ways to choose the crashed members: C(N, f).
	all *big.Int
}

// NewRing returns the ring of N members of which f crash: at least one member, and no more crashes than members.
func NewRing(members, crashed int) (Ring, error) {
	switch {
	case members < 1:
		return Ring{}, fmt.Errorf("%d members: a ring has at least 1", members)
	case crashed < 0 || crashed > members:
		return Ring{}, fmt.Errorf("%d crashes in a ring of %d: there can be 0 to %[2]d", crashed, members)
	}
	return Ring{members, crashed, new(big.Int).Binomial(int64(members), int64(crashed))}, nil
}

// All is C(N, f): the arrangements of the crashes without any condition.
func (r Ring) All() *big.Int { return new(big.Int).Set(r.all) }

// Survives is P_k(f, N) = W_k(f, N) / C(N, f), "Probability of having at most k consecutive node crashes among the N
// nodes that compose the ring in presence of f failures" (section 4). A token with k copies then goes round for ever.
func (r Ring) Survives(k int) *big.Rat { return new(big.Rat).SetFrac(r.Arrangements(k), r.all) }

// LostEventually is 1 − P_k: the dead members stay dead, and the token goes round until it meets more than k of them in
// a row.
func (r Ring) LostEventually(k int) *big.Rat {
	return new(big.Rat).Sub(big.NewRat(1, 1), r.Survives(k))
}

// LostAtOnce is the probability that the holder and its k successors are among the f members that crash at one moment:
// C(N−k−1, f−k−1) / C(N, f). It does not include what a token that still exists meets later.
func (r Ring) LostAtOnce(k int) *big.Rat {
	if k >= r.crashed {
		return new(big.Rat)
	}
	n, f := int64(r.members), int64(r.crashed)
	// What does not cancel out is f (f−1) … (f−k) / N (N−1) … (N−k).
	return new(big.Rat).SetFrac(new(big.Int).MulRange(f-int64(k), f), new(big.Int).MulRange(n-int64(k), n))
}

// Least returns the smallest k with P_k ≥ target; target is at most 1. It is never more than f, since no more can crash
// in a row.
func (r Ring) Least(target *big.Rat) int {
	// W_k / C(N, f) ≥ target, without fractions.
	wanted := new(big.Int).Mul(target.Num(), r.all)
	return sort.Search(r.crashed, func(k int) bool {
		w := r.Arrangements(k)
		return w.Mul(w, target.Denom()).Cmp(wanted) >= 0
	})
}

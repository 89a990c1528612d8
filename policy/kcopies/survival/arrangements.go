package survival

import "math/big"

// Arrangements is W_k(f, N), "the number of possible distributions of f failures in a ring of N sites such that there
// are at most k consecutive failures" (figure 4); k is at least 0. If no site survives, all N crash in a row, so there
// is none unless k ≥ N.
//
// The paper counts by a recurrence ([Ring.Enumerated]), which takes f × N numbers for each k. This function is a sum of
// f / (k+1) terms. One of the s = N − f survivors is marked. An arrangement with a mark is given by the place of the
// marked survivor, one of N, and by how many crashed sites follow each survivor, beginning there: s numbers from 0 to k
// with the sum f. There are c such sequences, so
//
//	s × W = N × c    and    c = Σ_j (−1)^j C(s, j) C(N − 1 − j(k+1), s − 1)
//
// by inclusion and exclusion of the sequences in which j of the numbers are above k.
func (r Ring) Arrangements(k int) *big.Int {
	survivors := r.members - r.crashed
	switch {
	case k >= r.crashed:
		return r.All()
	case survivors == 0:
		return new(big.Int)
	}
	// C(N−1, s−1) = C(N, f) s / N
	term := scaled(r.All(), big.NewInt(int64(survivors)), big.NewInt(int64(r.members)))
	sum := new(big.Int).Set(term)
	for j := 0; j < survivors && (j+1)*(k+1) <= r.crashed; j++ {
		scaled(term, big.NewInt(int64(survivors-j)), big.NewInt(int64(j+1)))
		// C(n−1, m) = C(n, m) (n−m) / n, from n = N − 1 − j(k+1) down, k + 1 times; n − m is f at first.
		n, rest := int64(r.members-1-j*(k+1)), int64(r.crashed-j*(k+1))
		scaled(term, new(big.Int).MulRange(rest-int64(k), rest), new(big.Int).MulRange(n-int64(k), n))
		if j%2 == 0 {
			sum.Sub(sum, term)
		} else {
			sum.Add(sum, term)
		}
	}
	return scaled(sum, big.NewInt(int64(r.members)), big.NewInt(int64(survivors)))
}

// scaled multiplies a number by up / down; the result is a whole number.
func scaled(number, up, down *big.Int) *big.Int {
	return number.Quo(number.Mul(number, up), down)
}

package survival

import (
	"math/big"
	"math/bits"
)

// Arrangements is W_k(f, N), "the number of possible distributions of f failures in a ring of N sites such that there are at most
// k consecutive failures" (figure 4); k is at least 0. Where nobody survives all N crash in a row: none, unless k ≥ N.
//
// The paper counts by a recurrence ([Ring.Enumerated]), which takes f × N numbers for each k. This is a sum of f / (k+1) terms:
// mark one of the s = N − f survivors. An arrangement with a mark is given by the place of the marked survivor, one of N, and by how
// many crashed follow each survivor, beginning there: s numbers from 0 to k with the sum f. There are c such sequences, so
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
	n, chosen := r.members-1, survivors-1
	// C(N−1, s−1) = C(N, f) s / N
	term := product{value: r.All(), up: 1, down: 1}
	term.scale(survivors, r.members)
	sum := new(big.Int).Set(term.now())
	for j := 0; j < survivors && (j+1)*(k+1) <= r.crashed; j++ {
		term.scale(survivors-j, j+1)
		for range k + 1 {
			// C(n−1, m) = C(n, m) (n−m) / n
			term.scale(n-chosen, n)
			n--
		}
		if j%2 == 0 {
			sum.Sub(sum, term.now())
		} else {
			sum.Add(sum, term.now())
		}
	}
	sum.Mul(sum, big.NewInt(int64(r.members)))
	return sum.Quo(sum, big.NewInt(int64(survivors)))
}

// product is a whole number that is multiplied by one fraction after the other, and is whole after each. Fractions are gathered
// while they fit into a word, because dividing a number of ten thousand bits costs the same whatever the divisor.
type product struct {
	value    *big.Int
	up, down uint64
}

// scale multiplies by up / down, both above 0.
func (p *product) scale(up, down int) {
	overUp, nextUp := bits.Mul64(p.up, uint64(up))
	overDown, nextDown := bits.Mul64(p.down, uint64(down))
	if overUp != 0 || overDown != 0 {
		p.now()
		nextUp, nextDown = uint64(up), uint64(down)
	}
	p.up, p.down = nextUp, nextDown
}

// now returns the number, which the next call of a method changes.
func (p *product) now() *big.Int {
	var word big.Int
	p.value.Mul(p.value, word.SetUint64(p.up))
	p.value.Quo(p.value, word.SetUint64(p.down))
	p.up, p.down = 1, 1
	return p.value
}

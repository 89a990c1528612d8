package survival

import "math/big"

// Enumerated is W_k(f, N) as section 4 counts it: "distributing the f failures with regard to S0 taking into account
// its state, i.e., either S0 is correct or it belongs to a sequence of i consecutive failure nodes (i ≤ k)". It keeps f
// × N numbers: a ring of some hundreds is enough for it.
func (r Ring) Enumerated(k int) *big.Int {
	n, f := r.members, r.crashed
	chain := chains(n, f, k)
	// S0 is correct, and the rest of the ring a chain between its two sides.
	w := new(big.Int).Set(chain[n][f])
	// S0 is one of i failures between two correct nodes, or of i = N − 1 failures on both sides of the only correct
	// one.
	for i := 1; i <= min(k, f, n-1); i++ {
		w.Add(w, new(big.Int).Mul(big.NewInt(int64(i)), chain[n-i-1][f-i]))
	}
	// "the case where there is no correct node (N = f) is not neglected in the calculation" (footnote 2).
	if n == f && k >= n {
		w.Add(w, big.NewInt(1))
	}
	return w
}

// chains returns, for chains of −1, 0, 1 … n − 1 sites and for 0 … f failures, how many distributions have at most k
// failures in a row: "a sequence of i failures (0 ≤ i ≤ k) followed by a non faulty site. By recurrence, we can then
// distribute the f − i failures among the N − i − 1 sites of the chain". A chain of −1 sites is what remains if
// failures reach up to the end.
func chains(n, f, k int) [][]*big.Int {
	chain := make([][]*big.Int, n+1)
	for sites := range chain {
		chain[sites] = make([]*big.Int, f+1)
		for failures := range chain[sites] {
			count := new(big.Int)
			if sites == 0 && failures == 0 {
				count.SetInt64(1)
			}
			for i := 0; i <= min(k, failures, sites-1); i++ {
				count.Add(count, chain[sites-1-i][failures-i])
			}
			chain[sites][failures] = count
		}
	}
	return chain
}

package kcopies_test

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/wanderd/wanderd/lab/mutant"
	"github.com/wanderd/wanderd/policy/kcopies/survival"
)

// A seed draws a ring of 2 to 12, k, and everything that happens: the appendix's properties hold after every step, and
// at the end some site has the token, unless more than k in a row have crashed.
func TestEverySeedKeepsTheProperties(t *testing.T) {
	regenerated, lost, crashed := 0, 0, 0
	seeds := mutant.Seeds(2000)
	for _, seed := range seeds {
		w, err := live(seed)
		if err != nil {
			t.Fatalf("seed %d: n = %d, k = %d: %v", seed, w.n, w.k, err)
		}
		regenerated += w.regenerated
		crashed += w.dead()
		if w.lost() {
			lost++
		}
	}
	t.Logf("%d seeds: %d crashes, the token was regenerated %d times and lost %d times", len(seeds), crashed,
		regenerated, lost)
	if len(seeds) > 100 && (regenerated < len(seeds)/10 || lost < len(seeds)/100) {
		t.Error("too little happens")
	}
}

// errLost: the token is lost, and should not be.
var errLost = errors.New("the token is lost")

// live draws a world and lets it live.
func live(seed uint64) (*world, error) {
	dice := rand.New(rand.NewPCG(seed, 1))
	n := 2 + dice.IntN(maxSites-1)
	w := newRing(n, dice.IntN(n-1)).begin()
	most := dice.IntN(n)
	for range 40 + dice.IntN(160) {
		// Crashes are rare, so that the token comes round between them.
		crash := w.dead() < most && dice.IntN(8) == 0
		all := w.possible(true, crash)
		if len(all) == 0 {
			break
		}
		if err := all[dice.IntN(len(all))].do(&w); err != nil {
			return &w, err
		}
	}
	if err := w.calm(); err != nil {
		return &w, err
	}
	if w.lost() && w.row() <= w.k {
		return &w, fmt.Errorf("%w: %d in a row have crashed", errLost, w.row())
	}
	return &w, nil
}

// fall lets these sites crash at once, while S_0 holds the token and nothing is under way, and tells the others.
func fall(r *ring, crashed uint16) (world, error) {
	w := r.begin()
	w.crashed = crashed
	if err := w.settle(); err != nil {
		return w, err
	}
	return w, w.calm()
}

// walk lets the token go round twice.
func (w *world) walk() error {
	for range 2 * w.n {
		i, ok := w.holder()
		if !ok {
			return nil
		}
		if err := w.send(i, -1); err != nil {
			return err
		}
		if err := w.calm(); err != nil {
			return err
		}
	}
	return nil
}

// Section 4, on the machines: of all crash patterns of f sites, the token is lost at once in those in which the holder
// and its k successors crash, C(N−k−1, f−k−1) of them, and it is lost sooner or later in all but W_k(f, N).
func TestTheTokenIsLostExactlyWhenTheTheorySays(t *testing.T) {
	for n := 2; n <= 9; n++ {
		for k := 0; k <= n-2; k++ {
			r := newRing(n, k)
			atOnce, sooner := make([]int64, n+1), make([]int64, n+1)
			for crashed := range uint16(1) << n {
				f := bits.OnesCount16(crashed)
				w, err := fall(r, crashed)
				if err != nil {
					t.Fatal(err)
				}
				if w.lost() {
					atOnce[f]++
				}
				if err := w.walk(); err != nil {
					t.Fatal(err)
				}
				if w.lost() {
					sooner[f]++
				}
			}
			for f := range n + 1 {
				theory, err := survival.NewRing(n, f)
				if err != nil {
					t.Fatal(err)
				}
				for _, loss := range []struct {
					name  string
					of    int64
					share *big.Rat
				}{{"at once", atOnce[f], theory.LostAtOnce(k)}, {"eventually", sooner[f], theory.LostEventually(k)}} {
					if got := new(big.Rat).SetFrac(big.NewInt(loss.of), theory.All()); got.Cmp(loss.share) != 0 {
						t.Errorf("n = %d, k = %d, %d crash: lost %s in %v, want %v", n, k, f, loss.name, got,
							loss.share)
					}
				}
			}
		}
	}
}

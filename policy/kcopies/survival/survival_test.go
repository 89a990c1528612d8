package survival

import (
	"math/big"
	"math/bits"
	"testing"
)

func ring(t testing.TB, members, crashed int) Ring {
	t.Helper()
	r, err := NewRing(members, crashed)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func float(r *big.Rat) float64 {
	f, _ := r.Float64()
	return f
}

func TestArrangementsAreThoseThatAListingFinds(t *testing.T) {
	for n := 1; n <= 12; n++ {
		for f := 0; f <= n; f++ {
			r := ring(t, n, f)
			for k := 0; k <= n+1; k++ {
				if got, want := r.Arrangements(k), r.Listed(k); !got.IsInt64() || got.Int64() != want {
					t.Errorf("W_%d(%d, %d) is %v, want %d", k, f, n, got, want)
				}
			}
		}
	}
}

// Section 4, of Arantes and Sopena: "Basically, its calculation consists of distributing the f failures with regard to
// S0".
func TestArrangementsAreThoseOfThePapersEnumeration(t *testing.T) {
	for n := 1; n <= 24; n++ {
		for f := 0; f <= n; f++ {
			r := ring(t, n, f)
			for k := 0; k <= n+1; k++ {
				if got, want := r.Arrangements(k), r.Enumerated(k); got.Cmp(want) != 0 {
					t.Errorf("W_%d(%d, %d) is %v, want %v", k, f, n, got, want)
				}
			}
		}
	}
}

// Of the same enumeration's numbers, too many and too large to keep here, only the last rows, as remainders of a prime.
func TestArrangementsOfTenThousandAreThoseOfTheEnumerationModuloAPrime(t *testing.T) {
	const n, prime = 10_000, 1_000_000_007
	for _, tc := range []struct{ f, k int }{{1000, 8}, {5000, 22}, {9900, 1092}} {
		kept := tc.k + 3
		rows := make([][]uint32, kept)
		for i := range rows {
			rows[i] = make([]uint32, tc.f+1)
		}
		// Chains of −1 sites and of 0.
		rows[0][0], rows[1][0] = 1, 1
		for sites := 2; sites <= n; sites++ {
			// The sums of two neighbours in a diagonal have all terms but two in common.
			row, above, gone := rows[sites%kept], rows[(sites-1)%kept], rows[(sites-tc.k-2+kept)%kept]
			row[0] = 1
			for f := 1; f <= tc.f; f++ {
				sum := above[f] + above[f-1]
				if sites >= tc.k+2 && f > tc.k {
					sum += prime - gone[f-tc.k-1]
				}
				for sum >= prime {
					sum -= prime
				}
				row[f] = sum
			}
		}
		want := uint64(rows[n%kept][tc.f])
		for i := 1; i <= tc.k; i++ {
			want = (want + uint64(i)*uint64(rows[(n-i-1)%kept][tc.f-i])) % prime
		}
		got := new(big.Int).Mod(ring(t, n, tc.f).Arrangements(tc.k), big.NewInt(prime))
		if got.Uint64() != want {
			t.Errorf("W_%d(%d, %d) leaves %v, want %d", tc.k, tc.f, n, got, want)
		}
	}
}

// "W = 0 for N = f unless k ≥ N": a ring without survivors has all of them in a row.
func TestARingWithoutSurvivorsHasAllInARow(t *testing.T) {
	for n := 1; n <= 30; n++ {
		r := ring(t, n, n)
		if w := r.Arrangements(n - 1); w.Sign() != 0 {
			t.Errorf("W_%d(%d, %d) is %v", n-1, n, n, w)
		}
		if w := r.Arrangements(n); w.Cmp(big.NewInt(1)) != 0 {
			t.Errorf("W_%d(%d, %d) is %v", n, n, n, w)
		}
	}
}

func TestAtOnceIsTheShareOfArrangementsWithTheHolderAndItsCopiesAmongTheDead(t *testing.T) {
	for n := 1; n <= 10; n++ {
		for f := 0; f <= n; f++ {
			r := ring(t, n, f)
			for k := 0; k <= n; k++ {
				lost := int64(0)
				// S0 holds the token; S1 … Sk have copies.
				with := uint64(1)<<(k+1) - 1
				for crashed := range uint64(1) << n {
					if bits.OnesCount64(crashed) == f && crashed&with == with {
						lost++
					}
				}
				want := new(big.Rat).SetFrac(big.NewInt(lost), r.All())
				if got := r.LostAtOnce(k); got.Cmp(want) != 0 {
					t.Errorf("k = %d, %d of %d: %v, want %v", k, f, n, got, want)
				}
			}
		}
	}
}

func TestTheTwoLossesAreNotTheSame(t *testing.T) {
	r := ring(t, 100, 50)
	if got := r.LostEventually(8).FloatString(4); got != "0.0715" {
		t.Errorf("lost eventually %s, want 0.0715", got)
	}
	if got := r.LostAtOnce(8).FloatString(4); got != "0.0013" {
		t.Errorf("lost at once %s, want 0.0013", got)
	}
	one := new(big.Rat).Add(r.Survives(8), r.LostEventually(8))
	if one.Cmp(big.NewRat(1, 1)) != 0 {
		t.Errorf("P and 1 − P add up to %v", one)
	}
}

// "the threshold for a system composed of 10000 nodes is k = 8", with 10 % crashed; "10000 it is just necessary to have
// k = 20 in order to tolerate, with a probability closer to 100%, 50% of the nodes that crash" (section 4).
func TestThePublishedThresholdsComeOutButNotForOneTarget(t *testing.T) {
	tenth, half := ring(t, 10_000, 1000), ring(t, 10_000, 5000)
	for _, tc := range []struct {
		r      Ring
		target *big.Rat
		k      int
	}{
		{tenth, tenth.Survives(8), 8},
		{tenth, big.NewRat(999915, 1000000), 8},
		{tenth, big.NewRat(99991, 100000), 7},
		{half, half.Survives(20), 20},
		{half, big.NewRat(99766, 100000), 20},
		{half, big.NewRat(99767, 100000), 21},
		{tenth, big.NewRat(999, 1000), 6},
		{half, big.NewRat(999, 1000), 22},
	} {
		if got := tc.r.Least(tc.target); got != tc.k {
			t.Errorf("%d of %d, target %v: k = %d, want %d", tc.r.crashed, tc.r.members, float(tc.target), got, tc.k)
		}
	}
	if tenth.Survives(7).Cmp(half.Survives(20)) <= 0 {
		t.Error("one target gives both thresholds")
	}
}

func TestLeastIsTheFirstKThatReachesTheTarget(t *testing.T) {
	for n := 1; n <= 12; n++ {
		for f := 0; f <= n; f++ {
			r := ring(t, n, f)
			for _, target := range []*big.Rat{
				new(big.Rat), big.NewRat(1, 2), big.NewRat(9, 10), big.NewRat(999, 1000), big.NewRat(1, 1),
			} {
				want := 0
				for r.Survives(want).Cmp(target) < 0 {
					want++
				}
				if got := r.Least(target); got != want {
					t.Errorf("%d of %d, target %v: k = %d, want %d", f, n, target, got, want)
				}
			}
		}
	}
}

func TestAnImpossibleRingIsRefused(t *testing.T) {
	for _, tc := range [][2]int{{0, 0}, {-1, 0}, {5, 6}, {5, -1}} {
		if r, err := NewRing(tc[0], tc[1]); err == nil {
			t.Errorf("%v: %+v", tc, r)
		}
	}
}

func BenchmarkLeastOfTenThousand(b *testing.B) {
	target := big.NewRat(999, 1000)
	for b.Loop() {
		if k := ring(b, 10_000, 5000).Least(target); k != 22 {
			b.Fatal(k)
		}
	}
}

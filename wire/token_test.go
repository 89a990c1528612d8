package wire

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// "Precedence is based firstly on the timestamp included in the token, and next on the generator identifier"
// (Ciuffoletti, section 5), and last on the random id.
func TestTheOlderTokenPrecedesThenTheGeneratorThenTheRandomID(t *testing.T) {
	low, high := MemberID{15: 1}, MemberID{0: 1}
	inOrder := []TokenID{
		{Birth: 1, Generator: high, Random: 9},
		{Birth: 2, Generator: low, Random: 9},
		{Birth: 2, Generator: high, Random: 3},
		{Birth: 2, Generator: high, Random: 4},
		{Birth: 1 << 62, Generator: low, Random: 0},
	}
	for i, first := range inOrder {
		for j, second := range inOrder {
			if got, want := first.Precedes(second), i < j; got != want {
				t.Errorf("%+v precedes %+v: %v, want %v", first, second, got, want)
			}
		}
	}
}

func TestPrecedenceIsATotalOrder(t *testing.T) {
	// There are few values for each field, so ties are common.
	id := rapid.Custom(func(t *rapid.T) TokenID {
		return TokenID{
			Birth:     rapid.Int64Range(0, 2).Draw(t, "birth"),
			Generator: MemberID{0: rapid.ByteRange(0, 2).Draw(t, "first"), 15: rapid.ByteRange(0, 2).Draw(t, "last")},
			Random:    rapid.Uint64Range(0, 2).Draw(t, "random"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := id.Draw(t, "a"), id.Draw(t, "b"), id.Draw(t, "c")
		if (a.Compare(b) == 0) != (a == b) {
			t.Error("two identities are equal in rank and not the same, or the same and not equal")
		}
		if a.Compare(b) != -b.Compare(a) {
			t.Error("the order depends on who asks")
		}
		if a.Compare(b) <= 0 && b.Compare(c) <= 0 && a.Compare(c) > 0 {
			t.Error("the order goes round in a circle")
		}
		if a.Precedes(b) == b.Precedes(a) && a != b {
			t.Error("neither or both of two tokens survive their meeting")
		}
	})
}

func TestTheFencingNumberRisesAndNeverWraps(t *testing.T) {
	edges := rapid.SampledFrom([]Seq{0, 1, seqEpoch - 1, seqEpoch, seqEpoch + 1, MaxSeq - seqEpoch, MaxSeq - 1, MaxSeq})
	anywhere := rapid.Map(rapid.Uint64Max(uint64(MaxSeq)), func(n uint64) Seq { return Seq(n) })
	known := rapid.OneOf(anywhere, edges)
	rapid.Check(t, func(t *rapid.T) {
		s := known.Draw(t, "seen")
		revived := s.Revived(rapid.Byte().Draw(t, "tie"))
		for name, next := range map[string]Seq{"After": s.After(), "NextEpoch": s.NextEpoch(), "Revived": revived} {
			if next > MaxSeq {
				t.Errorf("%s(%d) = %d, more than a datagram may carry", name, s, next)
			}
			if next < s || next == s && s != MaxSeq {
				t.Errorf("%s(%d) = %d does not rise", name, s, next)
			}
		}
		if s > 0 && s < MaxSeq-seqEpoch && s.NextEpoch()%seqEpoch != 0 {
			t.Errorf("NextEpoch(%d) = %d is not the start of an epoch", s, s.NextEpoch())
		}
	})
	// No datagram has a number above MaxSeq; a number from elsewhere must not overflow either.
	for _, s := range []Seq{MaxSeq, MaxSeq + 1, 1<<64 - 1} {
		if s.After() != MaxSeq || s.NextEpoch() != MaxSeq || s.Revived(255) != MaxSeq {
			t.Errorf("after %d come %d, %d and %d, want %d", s, s.After(), s.NextEpoch(), s.Revived(255), MaxSeq)
		}
	}
}

func TestAMemberThatHasSeenNoNumberStartsAtOne(t *testing.T) {
	if got := Seq(0).NextEpoch(); got != 1 {
		t.Errorf("got %d", got)
	}
}

func TestANewTokenAndARevivedOneOvertakeEveryHopOfTheOldOne(t *testing.T) {
	for _, seen := range []Seq{1, 2, seqEpoch, 5*seqEpoch + 17} {
		// The old token may have made hops that the maker does not know.
		old := seen
		for range 1000 {
			old = old.After()
		}
		if next := seen.NextEpoch(); next <= old {
			t.Errorf("a new token after %d starts at %d, the old one is at %d", seen, next, old)
		}
		if next := seen.Revived(0); next <= old {
			t.Errorf("a token revived after %d goes on at %d, the lost one is at %d", seen, next, old)
		}
	}
}

// Two guardians that revive one token have seen it with two numbers of one epoch, most probably different ones.
func TestOfTwoCopiesRevivedWithDifferentTiesOneIsHigherInTheSameEpoch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epoch := seqEpoch * Seq(rapid.Uint64Max(uint64(MaxSeq/seqEpoch)-2).Draw(t, "epoch"))
		within := rapid.Uint64Range(1, uint64(seqEpoch)-1)
		one, other := epoch+Seq(within.Draw(t, "seen by one")), epoch+Seq(within.Draw(t, "seen by the other"))
		ties := rapid.SliceOfNDistinct(rapid.Byte(), 2, 2, rapid.ID).Draw(t, "ties")
		low, high := one.Revived(min(ties[0], ties[1])), other.Revived(max(ties[0], ties[1]))
		if high < low+seqTie {
			t.Errorf("ties %d: the copies are at %d and %d, less than %d apart", ties, low, high, seqTie)
		}
		if next := one.NextEpoch(); low < next || high+seqTie > next+seqEpoch {
			t.Errorf("ties %d: the copies at %d and %d leave the epoch of %d", ties, low, high, next)
		}
	})
}

func TestNoFleetHasReachedAHigherNumberThanItsClockAllows(t *testing.T) {
	at := func(text string) int64 {
		when, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return when.UnixNano()
	}
	day := Seq(24*60*60) * seqEpoch
	for _, tc := range []struct {
		wall int64
		want Seq
	}{
		{math.MinInt64, day},
		{0, day},
		{at("2000-01-01"), day},
		{at("2000-01-02"), 2 * day},
		{at("2026-11-22"), day + Seq(at("2026-11-22")/1e9-at("2000-01-01")/1e9)*seqEpoch},
		{at("2099-01-01"), MaxSeq / seqEpoch * seqEpoch},
		{math.MaxInt64, MaxSeq / seqEpoch * seqEpoch},
	} {
		if got := LatestSeq(tc.wall); got != tc.want {
			t.Errorf("at %d: %d, want %d", tc.wall, got, tc.want)
		}
	}
}

func TestNoTokenWasMadeMoreThanADayAhead(t *testing.T) {
	const set = numbersSince * 1e9
	for _, tc := range []struct{ wall, want int64 }{
		{math.MinInt64, MaxBirth},
		{0, MaxBirth},
		{set - 1, MaxBirth},
		{set, set + leeway*1e9},
		{MaxBirth, MaxBirth},
		{math.MaxInt64, MaxBirth},
	} {
		if got := LatestBirth(tc.wall); got != tc.want {
			t.Errorf("at %d: %d, want %d", tc.wall, got, tc.want)
		}
	}
}

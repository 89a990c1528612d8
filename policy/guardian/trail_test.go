package guardian

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/wanderd/wanderd/wire"
)

func trailOf(members ...wire.MemberID) (t Trail) {
	copy(t[:], members)
	return t
}

// wellFormed reports whether a load that begins with a trail is well formed.
func wellFormed(t *Trail) bool {
	var load wire.Load
	SetTrail(&load, t)
	return WellFormedTrail(&load) && TrailOf(&load) == *t
}

func TestATrailListsTheLastHolders(t *testing.T) {
	a, b, c, d := wire.MemberID{1}, wire.MemberID{2}, wire.MemberID{3}, wire.MemberID{4}
	for _, tc := range []struct {
		name     string
		trail    Trail
		from, to wire.MemberID
		n        int
		want     Trail
	}{
		{"the first handoff", trailOf(), a, b, 2, trailOf(a)},
		{"the second", trailOf(a), b, c, 2, trailOf(b, a)},
		{"the oldest drops out", trailOf(b, a), c, d, 2, trailOf(c, b)},
		{"who gets it is none", trailOf(b, a), c, b, 2, trailOf(c, a)},
		{"more places than holders", trailOf(b, a), c, d, 4, trailOf(c, b, a)},
		{"fewer places than there were", trailOf(c, b, a), d, a, 1, trailOf(d)},
		{
			"more wanted than a trail has places", trailOf(d, c, b, a),
			wire.MemberID{5},
			wire.MemberID{6},
			9,
			trailOf(wire.MemberID{5}, d, c, b),
		},
		{
			"back to the first, the others keep their order", trailOf(d, c, b, a),
			wire.MemberID{5},
			d, 4,
			trailOf(wire.MemberID{5}, c, b, a),
		},
		{"from one that is in it", trailOf(c, b, a), b, d, 4, trailOf(b, c, a)},
		{"none wanted", trailOf(b, a), c, d, 0, trailOf()},
	} {
		if got := tc.trail.Behind(tc.from, tc.to, tc.n); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestARankIsThePositionInTheTrail(t *testing.T) {
	trail := trailOf(wire.MemberID{9}, wire.MemberID{8}, wire.MemberID{7})
	for rank, id := range []wire.MemberID{{9}, {8}, {7}} {
		if got, ok := trail.Rank(id); got != rank || !ok || !trail.Has(id) {
			t.Errorf("%v has rank %d, %v, want %d", id, got, ok, rank)
		}
	}
	for _, id := range []wire.MemberID{{6}, {}} {
		if _, ok := trail.Rank(id); ok || trail.Has(id) {
			t.Errorf("%v is in it", id)
		}
	}
}

func TestARecruitIsTheLastGuardianIfItIsNewAndThereIsAPlace(t *testing.T) {
	a, b, c, d := wire.MemberID{4}, wire.MemberID{3}, wire.MemberID{2}, wire.MemberID{1}
	var trail Trail
	for _, tc := range []struct {
		name    string
		recruit wire.MemberID
		want    Trail
	}{
		{"the first", a, trailOf(a)},
		{"the second", b, trailOf(a, b)},
		{"the first again", a, trailOf(a, b)},
		{"nobody", wire.MemberID{}, trailOf(a, b)},
		{"the third", c, trailOf(a, b, c)},
		{"the last that has a place", d, trailOf(a, b, c, d)},
		{"one too many", wire.MemberID{9}, trailOf(a, b, c, d)},
	} {
		if trail.Add(tc.recruit); trail != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, trail, tc.want)
		}
	}
}

func TestGuardiansMoveUpWhenOneIsDropped(t *testing.T) {
	a, b, c, d := wire.MemberID{4}, wire.MemberID{3}, wire.MemberID{2}, wire.MemberID{1}
	for rank, want := range []Trail{trailOf(b, c, d), trailOf(a, c, d), trailOf(a, b, d), trailOf(a, b, c)} {
		trail := trailOf(a, b, c, d)
		if trail.Drop(rank); trail != want || trail.Len() != 3 {
			t.Errorf("without rank %d: %v, want %v", rank, trail, want)
		}
	}
}

func TestATrailListsNobodyTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		member := rapid.Custom(func(t *rapid.T) wire.MemberID {
			return wire.MemberID{rapid.ByteRange(1, 6).Draw(t, "member")}
		})
		var trail Trail
		for range rapid.IntRange(0, 10).Draw(t, "handoffs") {
			n := rapid.IntRange(0, MaxBackups).Draw(t, "backups")
			to := member.Draw(t, "to")
			trail = trail.Behind(member.Filter(func(id wire.MemberID) bool { return id != to }).Draw(t, "from"), to, n)
			trail.Add(member.Filter(func(id wire.MemberID) bool { return id != to }).Draw(t, "recruit"))
			if !wellFormed(&trail) || trail.Has(to) || trail.Len() > n+1 {
				t.Fatalf("%v with %d backups at %v", trail, n, to)
			}
		}
	})
}

package siblings

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wanderd/wanderd/policy/kcopies"
)

type sites = []kcopies.Site

// "S4 is the current token holder […]. S8 monitors S6, S1, and S4 while S5 monitors S4, S1, S6, and S8" (section 5,
// figure 6).
func TestFigure6(t *testing.T) {
	before := copySet{sites: sites{5, 4, 9, 2}, predictable: 2}
	var now copySet
	nextCopySet(&before, sites{4, 1, 6, 8}, 6, &now)
	if want := (sites{4, 1, 6, 8, 5, 9, 2}); !slices.Equal(now.sites, want) || now.predictable != 4 ||
		now.holder() != 4 {
		t.Fatalf("T is %+v, want %v", now, want)
	}
	if d := now.detectionSet(8); !slices.Equal(d, sites{4, 1, 6, 8}) || now.isMonitor(8) {
		t.Errorf("D of S8 is %v", d)
	}
	if d := now.detectionSet(5); !slices.Equal(d, sites{4, 1, 6, 8, 5}) || !now.isMonitor(5) {
		t.Errorf("D of S5 is %v", d)
	}
}

// On a ring the rule gives figure 1: T is the holder and its k successors, and the holder before is no member of it.
func TestOnARingTheSetsAreThoseOfFigure1(t *testing.T) {
	const n, k = 12, 3
	now := copySet{sites: sites{3, 4, 5, 6}, predictable: 4}
	var next copySet
	var path sites
	for d := range kcopies.Site(n - 1) {
		path = append(path, (4+d)%n)
	}
	nextCopySet(&now, path, k, &next)
	if want := (sites{4, 5, 6, 7}); !slices.Equal(next.sites, want) || next.predictable != 4 {
		t.Errorf("T is %+v, want %v", next, want)
	}
	if gone := dropped(&now, &next, nil); !slices.Equal(gone, sites{3}) {
		t.Errorf("%v have no copy any more, want the holder before", gone)
	}
}

// Figure 6's properties, after every one of many moves: the members of T are distinct, k + 1 of them as soon as so many
// are known, "different from each other and have nested intersections" is true of their sets, the holder is in all of
// them, and monitors are no more than are needed: S_k stays only if the path is too short.
func TestTheSetsAreNestedAfterEveryMove(t *testing.T) {
	for seed := uint64(1); seed <= 500; seed++ {
		dice := rand.New(rand.NewPCG(seed, 1))
		n := 3 + dice.IntN(20)
		k := dice.IntN(n - 1)
		now, next := copySet{sites: sites{0}, predictable: 1}, copySet{}
		known := map[kcopies.Site]bool{0: true}
		for range 60 {
			var path sites
			for _, s := range dice.Perm(n)[:1+dice.IntN(n-1)] {
				if s := kcopies.Site(s); len(path) > 0 || s != now.holder() {
					path = append(path, s)
				}
			}
			if len(path) == 0 {
				continue
			}
			nextCopySet(&now, path, k, &next)
			for _, s := range path {
				known[s] = true
			}
			checkCopySet(t, seed, &now, &next, path, k)
			now, next = next, now
		}
		if len(now.sites) != min(k+1, len(known)) {
			t.Errorf("seed %d: %d members in T, with k = %d and %d that it knows", seed, len(now.sites), k, len(known))
		}
	}
}

func checkCopySet(t *testing.T, seed uint64, before, now *copySet, path sites, k int) {
	t.Helper()
	if now.holder() != path[0] || len(now.sites) > k+1 {
		t.Fatalf("seed %d: T is %+v, the path %v, k = %d", seed, now, path, k)
	}
	for at, s := range now.sites {
		if slices.Contains(now.sites[:at], s) {
			t.Fatalf("seed %d: S%d is in T twice", seed, s)
		}
		d := now.detectionSet(s)
		if d[0] != now.holder() || d[len(d)-1] != s || len(d) != at+1 {
			t.Fatalf("seed %d: D of S%d is %v", seed, s, d)
		}
		if at > 0 && !slices.Equal(now.detectionSet(now.sites[at-1]), d[:at]) {
			t.Fatalf("seed %d: D of S%d does not contain that of the member before it", seed, s)
		}
		if now.isMonitor(s) && slices.Contains(path, s) {
			t.Fatalf("seed %d: S%d is predictable, and a monitor", seed, s)
		}
	}
	stays := slices.Contains(now.sites, before.holder())
	if now.predictable == k+1 && stays && !slices.Contains(path[:k+1], before.holder()) {
		t.Fatalf("seed %d: S_k stays in T, which the path fills", seed)
	}
	if now.predictable <= k && !stays {
		t.Fatalf("seed %d: S_k is not in T, which has room", seed)
	}
}

// dropped appends the members that had a copy of the earlier token, and get none of the next.
func dropped(before, next *copySet, to []kcopies.Site) []kcopies.Site {
	for _, s := range before.sites {
		if !slices.Contains(next.sites, s) {
			to = append(to, s)
		}
	}
	return to
}

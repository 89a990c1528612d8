package ballot_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/wire"
)

func roster(t *testing.T, list string) *ballot.Roster {
	t.Helper()
	var ids []wire.MemberID
	names := strings.Fields(list)
	for _, name := range names {
		ids = append(ids, wire.MemberIDOf([]byte(name)))
	}
	r, err := ballot.NewRoster(names, ids)
	if err != nil {
		t.Fatal(err)
	}
	return &r
}

// "M = ⌊N/2⌋ + 1 of the roster"
func TestTwoMajoritiesShareAMember(t *testing.T) {
	for n, want := range []int{1: 1, 2: 2, 3: 2, 4: 3, 5: 3, 6: 4, 7: 4} {
		if n == 0 {
			continue
		}
		r, err := ballot.NewRoster(names(n))
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Majority(); got != want || 2*got <= n {
			t.Errorf("a majority of %d is %d, want %d", n, got, want)
		}
	}
}

// "names, the same on all members; its hash is in every strict message": the order in a configuration does not matter,
// names and keys do.
func TestARosterIsTheSameHoweverItIsListed(t *testing.T) {
	one, other := roster(t, "a b c"), roster(t, "c a b")
	if one.Hash() != other.Hash() || one.String() != "a, b, c" || other.Name(1) != "b" || one.ID(2) != other.ID(2) {
		t.Errorf("%v is not %v", one, other)
	}
	if rank, ok := other.Rank(one.ID(2)); rank != 2 || !ok {
		t.Errorf("c has rank %d", rank)
	}
	for _, list := range []string{"a b", "a b d", "a b c d"} {
		if roster(t, list).Hash() == one.Hash() {
			t.Errorf("(%s) has the hash of (%v)", list, one)
		}
	}
	ids := []wire.MemberID{one.ID(0), one.ID(1), wire.MemberIDOf([]byte("stolen"))}
	if r, err := ballot.NewRoster([]string{"a", "b", "c"}, ids); err != nil || r.Hash() == one.Hash() {
		t.Errorf("another key under one name has the same hash: %v", err)
	}
}

func TestABadRosterIsRefusedByName(t *testing.T) {
	key := func(b byte) wire.MemberID { return wire.MemberID{b} }
	for name, tc := range map[string]struct {
		names []string
		ids   []wire.MemberID
		want  string
	}{
		"nobody": {nil, nil, "empty"},
		"one name twice": {
			[]string{"web", "db", "web"},
			[]wire.MemberID{key(1), key(2), key(3)},
			`"web" is in the roster twice, with the keys of 01000000 and 03000000`,
		},
		"one key under two names": {
			[]string{"a", "b"}, []wire.MemberID{key(9), key(9)}, `"a" and "b" have one key, that of 09000000`,
		},
		"no name":                {[]string{"a", ""}, []wire.MemberID{key(1), key(2)}, "place 2"},
		"no key":                 {[]string{"a", "b"}, []wire.MemberID{key(1), {}}, "place 2"},
		"more names than keys":   {[]string{"a", "b"}, []wire.MemberID{key(1)}, "2 names and 1 keys"},
		"more than have numbers": {make([]string, 257), make([]wire.MemberID, 257), "257 members"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ballot.NewRoster(tc.names, tc.ids); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want …%s…", err, tc.want)
			}
		})
	}
}

// "the saved roster may differ from the configured one by one member at a time"
func TestARosterChangesByOneMemberAtATime(t *testing.T) {
	for _, tc := range []struct {
		saved, now string
		follows    bool
	}{
		{"", "a b c", true}, // never saved
		{"a b c", "a b c", true},
		{"a b c", "a b c d", true},
		{"a b c d", "a b c", true},
		{"a b c d", "b c d", true},
		{"a b c", "a b c d e", false},
		{"a b c", "a b d", false},
		{"a b c d e", "c", false},
		{"a b c d", "a b e", false},
		{"a b", "c d e", false},
	} {
		var memo policy.Memo
		if tc.saved != "" {
			m := ballot.New(ballot.Config{Roster: roster(t, tc.saved), Entropy: rand.NewPCG(1, 1)})
			m.Memo(&memo)
		}
		if err := roster(t, tc.now).Follows(&memo); (err == nil) != tc.follows {
			t.Errorf("from (%s) to (%s): %v", tc.saved, tc.now, err)
		}
	}
}

// The status names who has another roster, and who is in none.
func TestTheStatusNamesThoseThatDoNotCount(t *testing.T) {
	c := newCircle(t, 3)
	other, outside := c.ask(ballot.KindRenew, 1, 0, epoch(5, 1), 1), c.ask(ballot.KindRenew, 2, 0, epoch(5, 2), 2)
	ballot.SetLoad(&other.Load, c.roster.Hash()+1, lease, 0)
	outside.From = wire.MemberID{9}
	c.receive(other)
	c.receive(outside)
	facts := c.m[0].Facts(c.now, nil)
	for key, want := range map[policy.Key]wire.MemberID{
		policy.KeyOtherRoster: c.roster.ID(1), policy.KeyOutsider: outside.From,
	} {
		if f := policy.Find(facts, key); f == nil || f.Member != want {
			t.Errorf("%v: %+v", key, f)
		}
	}
}

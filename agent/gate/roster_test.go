package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// What a host remembers decides which rosters it accepts.
func TestARosterChangesByOneNameOrKeyAtATime(t *testing.T) {
	voter := func(name string, key byte) policy.Voter { return policy.Voter{Name: name, ID: wire.MemberID{key}} }
	a, b, c, d := voter("a", 1), voter("b", 2), voter("c", 3), voter("d", 4)
	agreed := statedir.Roster{Voters: []policy.Voter{a, b, c}, Agreed: true}
	// On the way from (a, b, c) to (a, b, c, d).
	onTheWay := statedir.Roster{Voters: []policy.Voter{a, b, c}, Former: []policy.Voter{a, b, c}}
	for _, tc := range []struct {
		name   string
		saved  statedir.Roster
		roster string
		// voters are the known ones; agreed is true if no member needs to be asked; refused is part of the error.
		voters  []policy.Voter
		agreed  bool
		refused string
	}{
		{"the first time", statedir.Roster{}, "c a b", []policy.Voter{a}, false, ""},
		{"the same", agreed, "c b a", []policy.Voter{a, b, c}, true, ""},
		{"one more", agreed, "a b c d", []policy.Voter{a, b, c}, false, ""},
		{"one less", agreed, "a b", []policy.Voter{a, b}, false, ""},
		{"another", agreed, "a b d", nil, false, "+d -c"},
		{"two more", agreed, "a b c d e", nil, false, "change one name at a time"},
		{"back again", onTheWay, "a b c", []policy.Voter{a, b, c}, false, ""},
		{"on from where nothing was agreed", onTheWay, "a b d", nil, false, "+d -c"},
		{"another key", statedir.Roster{
			Voters: []policy.Voter{a, b, d}, Former: []policy.Voter{a, b, voter("d", 5)},
		}, "a b d", nil, false, "+d -d"},
		{
			"its own key is another one",
			statedir.Roster{Voters: []policy.Voter{voter("a", 9), b, c}, Agreed: true},
			"a b c", nil, false, "give it its node key back",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir, err := statedir.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = dir.Close() }()
			if tc.saved.Voters != nil {
				if err := dir.SaveRoster("g", tc.saved); err != nil {
					t.Fatal(err)
				}
			}
			e, err := electorateOf(dir, a, &Config{Name: "g", Roster: strings.Fields(tc.roster)})
			switch {
			case tc.refused != "":
				if err == nil || !strings.Contains(err.Error(), tc.refused) {
					t.Errorf("%v", err)
				}
			case err != nil:
				t.Error(err)
			case !slices.Equal(e.known.Voters, tc.voters) || e.known.Agreed != tc.agreed:
				t.Errorf("%+v", e.known)
			}
		})
	}
}

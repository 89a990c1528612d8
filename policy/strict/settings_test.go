package strict_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/wire"
)

func settings(t *testing.T, members int) strict.Settings {
	t.Helper()
	var names []string
	var ids []wire.MemberID
	for i := range members {
		names, ids = append(names, string(rune('a'+i))), append(ids, wire.MemberID{15: byte(i + 1)})
	}
	roster, err := ballot.NewRoster(names, ids)
	if err != nil {
		t.Fatal(err)
	}
	return strict.Settings{
		Moves: strict.Tree, Roster: &roster, Lease: 8 * time.Second, KillAfter: 4 * time.Second,
		Margin: 100 * time.Millisecond, Rho: 0.01,
		Patience: 100 * time.Millisecond, Backups: max(members-2, 0),
	}
}

func TestBadSettingsAreRefusedWithTheirValues(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*strict.Settings)
		want   string
	}{
		"good":          {func(*strict.Settings) {}, ""},
		"no roster":     {func(s *strict.Settings) { s.Roster = nil }, "needs a roster"},
		"no such moves": {func(s *strict.Settings) { s.Moves = 7 }, "Moves(7)"},
		"no such request": {
			func(s *strict.Settings) { s.Moves, s.Request = strict.Ring, ring.Request(9) }, "Request(9)",
		},
		"no patience":             {func(s *strict.Settings) { s.Patience = 0 }, "patience = 0s"},
		"no margin":               {func(s *strict.Settings) { s.Margin = 0 }, "margin = 0s"},
		"no kill_after":           {func(s *strict.Settings) { s.KillAfter = 0 }, "kill_after = 0s"},
		"a negative min_interval": {func(s *strict.Settings) { s.MinInterval = -1 }, "min_interval = -1ns"},
		"too many backups":        {func(s *strict.Settings) { s.Backups = 2 }, "backups = 2"},
		"too many for a tree":     {func(s *strict.Settings) { s.Backups = 21 }, "a tree has at most 20"},
		"a lease that is too short": {
			func(s *strict.Settings) { s.Lease = 4 * time.Second }, "lease = 4s is too short for kill_after = 4s",
		},
		"no such clocks": {func(s *strict.Settings) { s.Rho = 1 }, "differ by 1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := settings(t, 3)
			tc.change(&s)
			err := s.Check(wire.MemberID{15: 1})
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the error is %v, want %q", err, tc.want)
			}
		})
	}
	two := settings(t, 2)
	two.Backups = 1
	if err := two.Check(wire.MemberID{15: 1}); err == nil || !strings.HasSuffix(err.Error(), "has at most 0") {
		t.Errorf("a backup beside the member that holds the token, and the one that gets it: %v", err)
	}
	if err := settings(t, 3).Check(wire.MemberID{15: 9}); err == nil ||
		!strings.Contains(err.Error(), "not in the roster (a, b, c)") {
		t.Errorf("a member outside the roster gets %v", err)
	}
}

// A run that starts when its record has just been saved in time can be killed before its lease ends.
func TestARunCanEndWithinItsLeaseHoweverLateItIsSaved(t *testing.T) {
	s := settings(t, 3)
	if ends := s.SaveWithin() + s.KillAfter + s.Margin; ends != s.Lease {
		t.Errorf("a run may end %v after its lease began, which lasts for %v", ends, s.Lease)
	}
}

// A member that has promised nothing since its roster changed takes the next change all the same.
func TestARosterMayChangeAgainWithoutAPromiseInBetween(t *testing.T) {
	var saved policy.State
	b := ballot.New(ballot.Config{Roster: settings(t, 3).Roster, Entropy: rand.NewPCG(1, 2)})
	b.Memo(&saved.Memo)
	for members, saves := range map[int]int{3: 0, 4: 1, 5: 0} {
		now := saved
		s := settings(t, members)
		m := s.Machine(policy.Env{Self: s.Roster.ID(0), Entropy: rand.NewPCG(1, 2)})
		n := 0
		for _, e := range m.Step(policy.Instant{}, &policy.Event{Kind: policy.Started, State: now}, nil) {
			if e.Kind == policy.Save {
				n++
				five := settings(t, 5)
				if err := five.Roster.Follows(&e.State.Memo); err != nil {
					t.Error(err)
				}
			}
		}
		if n != saves || (m.Status(0).Phase == "barred") != (members == 5) {
			t.Errorf("from 3 to %d: %d saves, %s", members, n, m.Status(0).Phase)
		}
	}
}

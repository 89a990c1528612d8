package wander_test

import (
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
)

// Nothing that a Byzantine member has said or done outlives its key: there is one token again, under which every member
// runs, and one more when that is lost. While the member lies, it costs the others at most two operations at once, for
// a lap in all, if they ask before they run.
func TestAByzantineMemberLeavesNothingBehind(t *testing.T) {
	for seed := uint64(1); seed <= byzantines(t); seed++ {
		s := wandering.DrawByzantine(seed)
		if o := s.Explore(); o.Err != nil {
			t.Errorf("seed %d: %v\n%v", seed, o.Err, &s)
		}
	}
}

// If members do not ask before they run, a member that passes on tokens that it does not hold can cost more. If a bound
// ever holds in that case too, it should be promised.
func TestAByzantineMemberThatOffersExceedsTheBoundUnlessMembersAskBeforeTheyRun(t *testing.T) {
	offering, exceeded := 0, 0
	for seed := uint64(1); seed <= byzantines(t); seed++ {
		s := wandering.DrawByzantine(seed)
		if s.Byzantine.Habits&wandering.Offers == 0 {
			continue
		}
		s.Scenario.AskBeforeRun = false
		judge := wandering.NewByzantineChecker(&s)
		if o := s.ExploreWith(judge); o.Err != nil {
			t.Errorf("seed %d: %v\n%v", seed, o.Err, &s)
		}
		offering++
		if judge.Exceeded() {
			exceeded++
		}
	}
	t.Logf("%d Byzantine members of %d that offer tokens exceed the bound if nobody asks before a run", exceeded,
		offering)
	if exceeded == 0 {
		t.Error("none does")
	}
}

func byzantines(t *testing.T) uint64 {
	t.Helper()
	return deep.Of[uint64](20, 30, 60)
}

func TestEachHabitIsDrawnAlone(t *testing.T) {
	seen := map[wandering.Habits]bool{}
	for seed := uint64(1); seed <= 4000; seed++ {
		s := wandering.DrawByzantine(seed)
		seen[s.Byzantine.Habits] = true
	}
	for h := wandering.Habits(1); h <= wandering.Objects; h <<= 1 {
		if !seen[h] && h != wandering.Invents && h != wandering.Objects {
			t.Errorf("no seed draws %v alone", h)
		}
	}
}

// In this world three operations ran at once when members did not wait for the answers of members that had failed a
// handoff.
func TestAByzantineMemberThatMakesOthersLookDeadIsBounded(t *testing.T) {
	s := wandering.DrawByzantine(5836)
	if o := s.Explore(); o.Err != nil {
		t.Errorf("%v\n%v", o.Err, &s)
	}
}

// A member that objects to every run delays each of the others by a lap now and then, and stops none. All together,
// they run two thirds as often as beside a member that objects to no run.
func TestAMemberThatObjectsToEveryRunStopsNobody(t *testing.T) {
	ran := map[wandering.Habits]int{}
	for seed := uint64(1); seed <= byzantines(t)/2; seed++ {
		s := wandering.DrawByzantine(seed)
		s.Scenario.AskBeforeRun = true
		for _, s.Byzantine.Habits = range []wandering.Habits{0, wandering.Objects} {
			judge := wandering.NewByzantineChecker(&s)
			if o := s.ExploreWith(judge); o.Err != nil {
				t.Errorf("seed %d: %v\n%v", seed, o.Err, &s)
			}
			ran[s.Byzantine.Habits] += judge.Ran
		}
	}
	t.Logf("%d runs beside a member that objects to none, %d beside one that objects to all", ran[0],
		ran[wandering.Objects])
	if ran[wandering.Objects] < ran[0]*2/3 {
		t.Error("that is too few")
	}
}

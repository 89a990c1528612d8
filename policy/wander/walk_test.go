package wander_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// walking returns a fleet of n whose token has gone round for a while, and what the token visits from then on.
func walking(t *testing.T, n int, walk wander.Walk, hops int, broken func(from, to int) bool) []int {
	t.Helper()
	cfg := config()
	cfg.Walk, cfg.MaxInterval, cfg.MinInterval = walk, 1000*time.Hour, 900*time.Hour
	f := newFleet(t, n, cfg)
	f.broken = broken
	for i := range n {
		f.seesAll(0, i)
	}
	f.advance(time.Duration(20*n) * (op + timeout))
	f.visits = f.visits[:0]
	for len(f.visits) < hops {
		f.advance(skip)
	}
	return f.visits[:hops]
}

// "Each lap visits every live member once": if all have the same view, any N visits of a sweep are N members, and
// always in the same order.
func TestASweepVisitsEverybodyInOneOrder(t *testing.T) {
	const n = 9
	visits := walking(t, n, wander.Sweep, 5*n, nil)
	for i, who := range visits[n:] {
		if who != visits[i] {
			t.Fatalf("visit %d is to %d, and one lap before it was to %d: %v", n+i, who, visits[i], visits)
		}
	}
	lap := slices.Clone(visits[:n])
	if slices.Sort(lap); len(slices.Compact(lap)) != n {
		t.Errorf("a lap does not visit everybody: %v", visits[:n])
	}
	if slices.IsSorted(visits[:n]) {
		t.Errorf("the order is that of the identities: %v", visits[:n])
	}
}

// "No wait is longer than two laps", and the orders differ.
func TestAShuffleKeepsNobodyWaitingForTwoLaps(t *testing.T) {
	const n, laps = 9, 40
	visits := walking(t, n, wander.Shuffle, laps*n, nil)
	last, longest, shortest := map[int]int{}, 0, laps*n
	for i, who := range visits {
		if before, ok := last[who]; ok {
			longest, shortest = max(longest, i-before), min(shortest, i-before)
		}
		last[who] = i
	}
	if longest >= 2*n {
		t.Errorf("somebody waited for %d visits", longest)
	}
	if longest == n && shortest == n {
		t.Error("every lap has the same order")
	}
	if len(last) != n {
		t.Errorf("only %d members were visited", len(last))
	}
}

// Members compute the order for themselves, so it must not change from one version to the next: these are the places of
// five members in the first orders of a gate.
func TestTheOrderIsTheSameEverywhere(t *testing.T) {
	for walk, want := range map[wander.Walk][]int{
		wander.Sweep:   {3, 2, 4, 0, 1, 3, 2, 4, 0, 1, 3, 2, 4, 0, 1},
		wander.Shuffle: {1, 4, 0, 2, 1, 4, 0, 3, 2, 4, 1, 3, 0, 4, 2},
	} {
		if got := walking(t, 5, walk, 15, nil); !slices.Equal(got, want) {
			t.Errorf("%v: visits %v, want %v", walk, got, want)
		}
	}
}

// Two neighbours in the order that can never reach each other starve no member: the next holder tries the member that
// was missed.
func TestBrokenLinksStarveNobody(t *testing.T) {
	const n, laps = 8, 10
	for _, walk := range []wander.Walk{wander.Shuffle, wander.Sweep} {
		for to := range n {
			// Half of the others cannot reach it; one of them cannot be heard by it either.
			broken := func(f, t int) bool { return t == to && (f+to)%2 == 1 || f == to && t == (to+2)%n }
			visits := walking(t, n, walk, laps*n, broken)
			for i := range laps - 2 {
				if !slices.Contains(visits[i*n:(i+3)*n], to) {
					t.Errorf("%v: no visit to %d in three laps: %v", walk, to, visits)
					break
				}
			}
		}
	}
}

// going is a member that has run under a token of a sweep and offers it to the next.
func going(t *testing.T, route wander.Route) *scenario {
	t.Helper()
	cfg := config()
	cfg.Walk = wander.Sweep
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5, 6, 7)
	token := born(1, 10)
	wander.SetRoute(&token.Load, &route)
	s.arrive(token, 1)
	s.finish()
	return s
}

func (s *scenario) offer() (wire.MemberID, wander.Route) {
	s.t.Helper()
	m := s.lastSent(handoff.KindToken)
	return m.To, wander.RouteOf(&m.Load)
}

// A member that does not answer is passed over, and the token carries that to the next holder.
func TestAMissedMemberIsTriedByTheNextHolder(t *testing.T) {
	s := going(t, wander.Route{})
	missed, _ := s.offer()
	s.advance(timeout)
	next, route := s.offer()
	if next == missed {
		t.Fatal("it is offered again to who did not answer")
	}
	if route.Missed[0] != missed.Hint() || route.Tries[0] != 1 || route.Tries[1] != 0 {
		t.Errorf("the token does not tell of %v: %+v", missed, route)
	}

	s = going(t, route)
	if to, route := s.offer(); to != missed || route.Tries[0] != 0 {
		t.Errorf("the next holder offers it to %v with %+v, not to %v", to, route, missed)
	}
	s.advance(timeout)
	if to, again := s.offer(); to == missed || again.Missed[0] != missed.Hint() || again.Tries[0] != 2 {
		t.Errorf("after a second try it is offered to %v with %+v", to, again)
	}
}

// A holder whose own run comes between its offers, and takes long, does not try a member again that it has not reached.
func TestAHolderThatRunsAgainLeavesAMissedMemberToOthers(t *testing.T) {
	cfg := config()
	cfg.Walk, cfg.MinInterval = wander.Sweep, timeout/2
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5, 6, 7)
	s.arrive(born(1, 10), 1)
	s.finish()
	missed, _ := s.offer()
	s.advance(timeout)
	wantNote(t, s.notes, wander.NoteRan)
	s.advance(20 * timeout)
	s.finish()
	if to, route := s.offer(); to == missed || route.Missed[0] != missed.Hint() {
		t.Errorf("after its run it offers the token to %v with %+v, and has not reached %v", to, route, missed)
	}
}

func TestAMemberMissedManyTimesWaitsForTheNextLap(t *testing.T) {
	route := wander.Route{}
	route.Miss(id(6).Hint(), wander.MaxTries-1)
	s := going(t, route)
	if to, _ := s.offer(); to != id(6) {
		t.Fatalf("it is offered to %v first", to)
	}
	s.advance(timeout)
	if _, route := s.offer(); route.Tries[0] != 0 {
		t.Errorf("the token still tells of it: %+v", route)
	}
}

// Members that are not in this member's view are left on the list, for the holders that see them.
func TestAMissedMemberOutOfViewIsLeftToOthers(t *testing.T) {
	route := wander.Route{}
	route.Miss(id(99).Hint(), 1)
	route.Miss(id(6).Hint(), 2)
	s := going(t, route)
	if to, route := s.offer(); to != id(6) || route.Missed[0] != id(99).Hint() ||
		route.Tries != [wander.MaxMissed]uint8{1} {
		t.Errorf("it is offered to %v with %+v", to, route)
	}
}

// A near miss is expensive: a member of a sweep that will be due within a lap of skips keeps the token until then, and
// then runs.
func TestAMemberThatIsDueSoonKeepsTheToken(t *testing.T) {
	const n = 7
	for _, tc := range []struct {
		walk  wander.Walk
		early time.Duration
		keeps bool
	}{
		{wander.Sweep, n * skip, true},
		{wander.Sweep, n*skip + 1, false},
		{wander.Shuffle, skip * 2, false},
		{wander.Random, skip * 2, false},
	} {
		cfg := config()
		cfg.Walk = tc.walk
		s := begin(t, cfg, policy.State{})
		s.fleet(1, 2, 3, 4, 5, 6, 7)
		s.ran(born(1, 10))
		ranAt := s.saved.LastRun
		s.pass(ranAt.Add(minInterval - tc.early).Sub(s.now.Time))
		s.arrive(born(1, 20), 2)
		s.wantState("resting")
		s.advance(skip)
		if !tc.keeps {
			s.wantState("offering")
			continue
		}
		s.wantState("resting")
		s.fleet(1, 2, 3, 4, 5, 6) // a change of the view does not end the wait
		s.advance(tc.early - skip)
		s.wantRuns(2)
		if got := s.saved.LastRun.Sub(ranAt); got != minInterval {
			t.Errorf("%v: it runs after %v", tc.walk, got)
		}
	}
}

// Two tokens that go round at half a lap's distance would never meet, and if a lap takes longer than min_interval, each
// would run all members.
func TestATokenThatChasesAnOlderOneRoundIsRemoved(t *testing.T) {
	for _, tc := range []struct {
		walk    wander.Walk
		younger int
		after   time.Duration
		removed bool
	}{
		{wander.Sweep, 2, maxInterval/3 - 1, true},
		{wander.Shuffle, 2, maxInterval/3 - 1, true},
		{wander.Sweep, 2, maxInterval / 3, false},
		{wander.Sweep, 0, maxInterval/3 - 1, false}, // it is the older one
		{wander.Random, 2, maxInterval/3 - 1, false},
	} {
		cfg := config()
		cfg.Walk, cfg.MinInterval, cfg.MaxInterval = tc.walk, skip, maxInterval
		s := begin(t, cfg, policy.State{})
		s.fleet(1, 2, 3, 4, 5)
		s.ran(born(1, 10))
		s.pass(tc.after)
		s.arrive(born(tc.younger, 50), 2)
		if removed := slices.Contains(s.notes, wander.NoteRemoved); removed != tc.removed {
			t.Errorf("%v, a token of %d s after %v: removed %v", tc.walk, tc.younger, tc.after, removed)
		}
	}
}

// If Δmax is set by hand to less than three laps, a third of it is less than a lap: the measured laps count, up to
// Δmax.
func TestMeasuredLapsCountUpToMaxInterval(t *testing.T) {
	cfg := config()
	cfg.Walk, cfg.MinInterval, cfg.MaxInterval = wander.Sweep, skip, 100*skip
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	for range 3 {
		s.visit(born(1, 10))
		s.pass(80 * skip)
	}
	s.visit(born(1, 20))
	s.pass(79 * skip)
	s.arrive(born(2, 50), 2)
	if !slices.Contains(s.notes, wander.NoteRemoved) {
		t.Errorf("a token is kept less than a lap after an older one: %v", names(s.notes))
	}
}

// A token that was made before an older one was last here has existed beside it: it is removed, however long ago that
// was, and whatever was configured. That also holds on a random walk, but not in the plain paper.
func TestATokenOfAnOlderOnesTimeIsRemoved(t *testing.T) {
	for _, tc := range []struct {
		walk    wander.Walk
		backups int
		younger int
		age     time.Duration
		removed bool
	}{
		{wander.Sweep, 0, 2, 10*maxInterval + 1, true},
		{wander.Sweep, 0, 2, 10 * maxInterval, false}, // it may have been made when the older one was lost
		{wander.Sweep, 0, 0, 10*maxInterval + 1, false},
		{wander.Shuffle, 2, 2, 10*maxInterval + 1, true},
		{wander.Random, 2, 2, 10*maxInterval + 1, true},
		{wander.Random, 0, 2, 10*maxInterval + 1, false},
	} {
		cfg := config()
		cfg.Walk, cfg.Backups = tc.walk, tc.backups
		s := begin(t, cfg, policy.State{})
		s.fleet(1, 2, 3, 4, 5)
		s.ran(born(1, 10))
		s.pass(10 * maxInterval)
		token := born(tc.younger, 1<<40)
		wander.SetAge(&token.Load, tc.age)
		s.arrive(token, 2)
		if removed := slices.Contains(s.notes, wander.NoteRemoved); removed != tc.removed {
			t.Errorf("%+v: removed %v", tc, removed)
		}
	}
}

// A token's age is how long its holders have had it, including offers that no member took, and how long the handoffs
// took.
func TestATokenGrowsOlderOnItsWay(t *testing.T) {
	s := inFleet(t)
	token := born(1, 10)
	wander.SetAge(&token.Load, time.Hour)
	commit := s.acknowledged(token, 2)
	s.pass(skip / 2)
	s.receive(commit)
	s.pass(5 * op)
	s.finish()
	s.wantAge(time.Hour + skip/2 + 5*op)
	s.advance(timeout)
	s.wantState("offering")
	s.wantAge(time.Hour + skip/2 + 5*op + timeout)
	s.ack()
	s.advance(maxInterval)
	s.wantAge(0) // it has made a new one
}

func (s *scenario) wantAge(want time.Duration) {
	s.t.Helper()
	if got := wander.AgeOf(&s.lastSent(handoff.KindToken).Load); got != want {
		s.t.Errorf("the token on offer has an age of %v, want %v", got, want)
	}
}

// visit lets a token come, rest or run, and go, at once as far as it can.
func (s *scenario) visit(token guardian.Token) {
	s.t.Helper()
	wander.SetAge(&token.Load, wander.MaxAge)
	s.arrive(token, 2)
	if s.m.Detail(s.now.Time).Phase == "resting" {
		s.advance(skip)
	}
	if s.m.Detail(s.now.Time).Phase == "running" {
		s.finish()
	}
	s.ack()
}

// A member that has not seen a token for many laps, because it was cut off, learns nothing about a lap when it is back.
// If that token is lost soon after, the tokens that are made in its place must survive.
func TestAnAbsenceIsNotMeasuredAsALap(t *testing.T) {
	cfg := config()
	cfg.Walk = wander.Sweep
	s := begin(t, cfg, policy.State{})
	s.fleet(1, 2, 3, 4, 5)
	s.ran(born(1, 10))
	s.pass(20 * maxInterval)
	s.ran(born(1, 20))
	s.pass(maxInterval)
	s.arrive(born(2, 50), 2)
	if slices.Contains(s.notes, wander.NoteRemoved) {
		t.Error("a token is removed for one that has been away for max_interval")
	}
}

func TestEveryWalkHasAName(t *testing.T) {
	if got := fmt.Sprint(wander.Walks(), wander.Walk(9)); got != "[random shuffle sweep] Walk(9)" {
		t.Error(got)
	}
}

// Two members whose operations take equally long pass their tokens on at the same moment, to each other, and if
// min_interval is no longer than that, the paper's rule removes neither.
func TestTwoTokensThatChangePlacesDoNotLiveForEver(t *testing.T) {
	cfg := config()
	cfg.MinInterval, cfg.MaxInterval = op, maxInterval
	f := newFleet(t, 2, cfg)
	for i := range f.members {
		f.sees(0, i)
		f.seesAll(op/2, i)
	}
	f.advance(20 * op)
	held := 0
	for _, m := range f.members {
		if m.m.Status(f.now).Holding {
			held++
		}
	}
	if f.created != 2 || held != 1 {
		t.Errorf("of %d tokens %d are left", f.created, held)
	}
}

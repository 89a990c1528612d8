package wander_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// offered runs once more and returns the member to which the token is offered then.
func (s *scenario) offered() wire.MemberID {
	s.t.Helper()
	s.advance(minInterval)
	s.arrive(born(1, 10), 1)
	s.finish()
	s.notes = s.notes[:0]
	s.sent = s.sent[len(s.sent)-1:]
	return s.lastSent(handoff.KindToken).To
}

// chiSquare is how far counts are from being equal, over as many degrees of freedom as there are counts but one.
func chiSquare(counts map[wire.MemberID]int, members, draws int) (sum float64) {
	want := float64(draws) / float64(members)
	for _, n := range counts {
		sum += (float64(n) - want) * (float64(n) - want) / want
	}
	return sum + float64(members-len(counts))*want
}

// "we adopt a random walk approach" (abstract), on a complete mesh: every other member is as likely as any, from every
// rank.
func TestTheWalkIsUniformOverTheOthers(t *testing.T) {
	const draws = 9000
	for rank, view := range [][]int{
		{3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
		{1, 2, 3, 4, 5, 6, 7, 8, 9, 10},
		{250, 251, 252, 253, 254, 255, 1, 2, 0, 3},
	} {
		t.Run(fmt.Sprintf("case %d", rank), func(t *testing.T) {
			s := begin(t, config(), policy.State{})
			s.fleet(view...)
			counts := map[wire.MemberID]int{}
			for range draws {
				counts[s.offered()]++
				s.ack()
			}
			if counts[self] > 0 {
				t.Errorf("the token was offered to its holder %d times", counts[self])
			}
			// 26.1 is exceeded once in a thousand sources, with 8 degrees of freedom; this source is always the same.
			if got := chiSquare(counts, 9, draws); got > 26.1 {
				t.Errorf("chi-square is %.1f: %v", got, counts)
			}
		})
	}
}

// "The token passing operation is considered as failed, and is retried, possibly selecting another neighbor" (section
// 4).
func TestAFailedHandoffIsRetriedWithAnother(t *testing.T) {
	s := inFleet(t)
	first := s.offered()
	s.advance(timeout)
	s.wantNotes(handoff.NoteNoAck, handoff.NoteOffered)
	second := s.lastSent(handoff.KindToken).To
	if second == first {
		t.Fatal("it retries with the same one")
	}
	if token, _ := s.ack(); token.ID != born(1, 0).ID {
		t.Errorf("it retries with another token, %v", token)
	}
}

// lowest draws the first of the members that may be drawn.
type lowest struct{}

func (lowest) Uint64() uint64 { return 1 }

// The member that failed is avoided for sixteen timeouts, and no longer.
func TestAMemberThatFailedAHandoffIsAvoidedForAWhile(t *testing.T) {
	for _, tc := range []struct {
		after time.Duration
		want  wire.MemberID
	}{
		{skip, id(5)},
		{16*timeout - 1, id(5)},
		{16 * timeout, id(4)},
	} {
		cfg := config()
		cfg.Entropy = lowest{}
		s := begin(t, cfg, policy.State{})
		s.fleet(3, 4, 5)
		if dead := s.offered(); dead != id(4) {
			t.Fatalf("offered to %v first", dead)
		}
		s.advance(timeout)
		failed := s.now.Time
		s.ack()
		s.advance(tc.after - skip)
		s.arrive(born(1, 10), 1)
		s.advance(skip)
		if to := s.lastSent(handoff.KindToken).To; to != tc.want {
			t.Errorf("%v after it failed, %v is offered the token, want %v", s.now.Time.Sub(failed), to, tc.want)
		}
	}
}

// The walk stays uniform over the members that are left, whatever their places are between the avoided ones.
func TestTheWalkIsUniformOverMembersThatAreNotAvoided(t *testing.T) {
	const draws = 4000
	dead := map[wire.MemberID]bool{id(4): true, id(5): true, id(8): true}
	s := begin(t, config(), policy.State{})
	s.fleet(1, 2, 3, 4, 5, 6, 7, 8)
	counts := map[wire.MemberID]int{}
	for range draws {
		to := s.offered()
		for dead[to] {
			s.advance(timeout)
			to = s.lastSent(handoff.KindToken).To
		}
		counts[to]++
		s.ack()
	}
	// 16.3 is exceeded once in a thousand sources, with 3 degrees of freedom.
	if got := chiSquare(counts, 4, draws); got > 16.3 {
		t.Errorf("chi-square is %.1f: %v", got, counts)
	}
}

// Where all others have failed, the token is offered to one of them all the same.
func TestIfAllAreAvoidedOneIsTriedAllTheSame(t *testing.T) {
	s := begin(t, config(), policy.State{})
	s.fleet(3, 4, 5)
	tried := map[wire.MemberID]bool{s.offered(): true}
	for range 20 {
		s.advance(timeout)
		s.wantState("offering")
		tried[s.lastSent(handoff.KindToken).To] = true
	}
	if len(tried) != 2 || tried[self] {
		t.Errorf("it tried %v", tried)
	}
}

// A member that takes part in a handoff is no longer avoided: it acknowledged one, or offered one.
func TestAMemberThatTakesPartInAHandoffIsAvoidedNoLonger(t *testing.T) {
	for name, takesPart := range map[string]func(s *scenario){
		"as receiver": func(s *scenario) {
			s.fleet(3, 4)
			s.advance(timeout) // now only the member that failed is there
			s.ack()
			s.fleet(3, 4, 5)
		},
		"as sender": func(s *scenario) {
			s.advance(timeout)
			s.ack()
			s.arrive(born(1, 10), 4)
			s.advance(skip)
			s.ack()
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, config(), policy.State{})
			s.fleet(3, 4)
			dead := s.offered()
			if dead != id(4) {
				t.Fatal("offered to somebody else")
			}
			s.fleet(3, 4, 5)
			takesPart(s)
			for range 6 {
				s.arrive(born(1, 10), 5)
				s.advance(skip)
				if s.lastSent(handoff.KindToken).To == dead {
					return
				}
				s.ack()
			}
			t.Error("it is still avoided")
		})
	}
}

// Four are remembered; a fifth replaces the one that would be forgotten first.
func TestTheLastFourThatFailedAreAvoided(t *testing.T) {
	s := begin(t, config(), policy.State{})
	s.fleet(1, 2, 3, 4, 5, 6, 7)
	order := []wire.MemberID{s.offered()}
	// The next offer: the patience grows while no member answers.
	fail := func() {
		for tells := len(s.notes); len(s.notes) == tells; {
			s.advance(timeout)
		}
	}
	for range 4 {
		fail()
		order = append(order, s.lastSent(handoff.KindToken).To)
	}
	for i, a := range order {
		for _, b := range order[:i] {
			if a == b {
				t.Fatalf("%v was tried twice: %v", a, order)
			}
		}
	}
	// Six others: the last four that failed are avoided; the first may be tried again beside the one that was never
	// tried.
	allowed := map[wire.MemberID]bool{}
	for range 12 {
		fail()
		next := s.lastSent(handoff.KindToken).To
		order = append(order, next)
		for _, recent := range order[len(order)-5 : len(order)-1] {
			if next == recent {
				t.Fatalf("%v was tried a short while ago: %v", next, order)
			}
		}
		allowed[next] = true
	}
	if len(allowed) < 4 {
		t.Errorf("tried were %v", allowed)
	}
}

// The view changes while an offer is in progress: the offer to the member that is gone is tried to the end, and then
// one to a member that is there.
func TestAnOfferOutlivesAChangeOfView(t *testing.T) {
	s := begin(t, config(), policy.State{})
	s.fleet(3, 4)
	s.offered()
	s.fleet(3, 5)
	s.advance(timeout - time.Millisecond)
	s.wantState("offering")
	s.advance(time.Millisecond)
	if to := s.lastSent(handoff.KindToken).To; to != id(5) {
		t.Errorf("then it is offered to %v", to)
	}
}

// A holder runs at the moment it is due, whatever becomes of its offers, and on every walk.
func TestADueHolderRunsEvenIfItsOffersFail(t *testing.T) {
	for _, walk := range wander.Walks() {
		t.Run(walk.String(), func(t *testing.T) {
			cfg := config()
			cfg.Walk = walk
			s := begin(t, cfg, policy.State{})
			s.fleet(1, 2, 3, 4, 5)
			s.arrive(born(1, 10), 1)
			for runs := 1; runs <= 5; runs++ {
				s.wantRuns(runs)
				s.advance(op)
				s.finish()
				s.wantState("offering")
				s.advance(minInterval - op)
			}
			s.wantState("running")
			// While it runs, and for as long as no member answers, the number of its messages stays bounded.
			if sent := len(s.sent); sent > 3*int(5*minInterval/timeout) {
				t.Errorf("it sent %d messages", sent)
			}
		})
	}
}

// A member that leaves runs nothing any more.
func TestALeavingHolderThatIsDueOffersOn(t *testing.T) {
	s := inFleet(t)
	s.arrive(born(1, 10), 1)
	s.leave()
	s.finish()
	s.advance(2 * minInterval)
	s.wantRuns(1)
	s.wantState("offering")
}

// A member that gives its token up because it hears no other has raised regenerate-after for nothing: only it was cut
// off.
func TestAMemberThatHearsNobodyRegeneratesWithinMaxInterval(t *testing.T) {
	s := inGuardedFleet(t)
	s.advance(maxInterval)
	for !s.m.Detail(s.now.Time).Holding {
		s.advance(patience)
	}
	if after := s.m.Detail(s.now.Time).RegenerateAfter; after <= maxInterval {
		t.Fatalf("regenerate-after is %v, as if it had made no token", after)
	}
	for s.m.Detail(s.now.Time).Phase != "absent" {
		s.advance(patience)
		if s.m.Detail(s.now.Time).Phase == "running" {
			s.finish()
		}
	}
	s.wantRegenerateAfter(maxInterval)
}

// An answer that comes too late for its offer is an answer, too: a member that gets it hears another.
func TestALateAnswerIsHeard(t *testing.T) {
	for name, late := range map[string]bool{"none": false, "late": true} {
		t.Run(name, func(t *testing.T) {
			s := inGuardedFleet(t)
			s.arrive(guardedBy(born(1, 10), 5, 4), 5)
			s.finish()
			offer := *s.lastSent(handoff.KindToken)
			s.notes = nil
			for range 20 {
				s.advance(timeout / 2)
				if s.notes != nil {
					break
				}
			}
			s.wantState("doubting")
			if late {
				s.receive(handoff.Reply(&offer, handoff.KindAck, 77))
			}
			s.advance(patience)
			if held := s.m.Detail(s.now.Time).Holding; held != late {
				t.Errorf("it holds its token: %v; %v", held, names(s.notes))
			}
		})
	}
}

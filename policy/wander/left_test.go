package wander_test

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// What a member knows of the tokens that have left it: when they left, and which was the oldest.

// leaves lets the token that is on offer leave after a while.
func (s *scenario) leaves(after time.Duration) {
	s.t.Helper()
	s.advance(after)
	s.sent = slices.DeleteFunc(s.sent, func(m wire.Message) bool { return m.Kind != handoff.KindToken })
	s.ack()
}

// A lap counts from when the token left: not from when it came, nor from when it was offered, nor from when an older
// one left.
func TestALapCountsFromWhenTheTokenLeft(t *testing.T) {
	const offered, away = 300 * time.Millisecond, time.Hour
	s := lapping(t, nil)
	token := born(5, 10)
	wander.SetAge(&token.Load, wander.MaxAge)
	for range 3 {
		s.arrive(token, 2)
		if s.m.Detail(s.now.Time).Phase == "running" {
			s.advance(10 * op)
			s.finish()
		} else {
			s.advance(skip)
		}
		s.wantState("offering")
		s.leaves(offered)
		s.pass(away)
	}
	// The shorter of the two rounds counts: in it the member did not run.
	if lap := s.m.Detail(s.now.Time).Lap; lap != away+10*op+offered {
		t.Errorf("a lap takes %v, want %v", lap, away+10*op+offered)
	}
}

// This also holds while an older token is remembered that may still exist.
func TestALapCountsFromTheLastTokenThatLeft(t *testing.T) {
	s := onWalk(t)
	s.m.SetReady(false, true)
	for i := range 3 {
		s.arrive(aged(9, wire.Seq(2000+1000*i), 2*time.Minute), 4)
		s.advance(skip)
		s.leaves(0)
		s.pass(time.Minute)
	}
	if lap := s.m.Detail(s.now.Time).Lap; lap != time.Minute+skip {
		t.Errorf("a lap takes %v", lap)
	}
}

// onWalk starts a member in a fleet with guardians and a random walk, which has passed on a token for the first time.
func onWalk(t *testing.T) *scenario {
	t.Helper()
	s := inGuardedFleet(t)
	s.ran(aged(1, 10, time.Hour))
	s.advance(minInterval)
	return s
}

// aged is a token that was made the given time ago.
func aged(second int, seq wire.Seq, age time.Duration) guardian.Token {
	t := born(second, seq)
	wander.SetAge(&t.Load, age)
	return t
}

// A token that was made before an older one left this member is one of two. No member's heartbeats change how long ago
// that was.
func TestATokenIsJudgedByWhenTheOlderOneLeft(t *testing.T) {
	for name, tc := range map[string]struct {
		age  time.Duration
		kept bool
	}{"made before": {minInterval + time.Second, false}, "made since": {minInterval - time.Second, true}} {
		t.Run(name, func(t *testing.T) {
			s := onWalk(t)
			s.receive(word(guardian.KindHeartbeat, 1, guardedBy(born(1, 50), 3, 2)))
			s.arrive(aged(5, 2000, tc.age), 4)
			if got := s.m.Detail(s.now.Time).Holding; got != tc.kept {
				t.Errorf("it keeps the younger token: %v; %v", got, names(s.notes))
			}
		})
	}
}

// Of the tokens that have left, the oldest is remembered; otherwise a younger one would hide it.
func TestTheOldestTokenThatHasLeftIsRemembered(t *testing.T) {
	s := onWalk(t)
	s.ran(aged(9, 2000, time.Second))
	s.advance(time.Minute)
	s.notes = nil
	s.arrive(aged(5, 3000, time.Hour), 4)
	if s.m.Detail(s.now.Time).Holding {
		t.Errorf("a token that was made before the oldest left is kept: %v", names(s.notes))
	}
}

// But not for ever: after regenerate-after the oldest may be lost, and the next one replaces it.
func TestATokenThatIsLostIsForgottenForTheNext(t *testing.T) {
	s := onWalk(t)
	s.receive(word(guardian.KindHeartbeat, 1, guardedBy(born(1, 50), 3, 2))) // so that it makes no token itself
	s.advance(maxInterval - minInterval - time.Minute)
	s.receive(word(guardian.KindTombstone, 1, born(1, 60)))
	s.advance(time.Minute)
	s.m.SetReady(false, true) // so that no run counts against the other
	s.arrive(aged(9, 2000, time.Minute), 4)
	s.advance(skip)
	s.leaves(0)
	s.advance(time.Minute)
	s.notes = nil
	s.arrive(aged(20, 3000, 2*time.Minute), 4)
	if s.m.Detail(s.now.Time).Holding {
		t.Errorf("a token that was made before the last one left is kept: %v", names(s.notes))
	}
}

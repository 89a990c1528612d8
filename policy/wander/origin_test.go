package wander_test

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// first is a token by the second of its birth, whose identity shows that its fleet had met none since it started.
func first(second int, seq wire.Seq) guardian.Token {
	t := born(second, seq)
	t.ID.Random = t.ID.Random<<16 | 0xf1f5
	return t
}

// restarted is a member that ran the given time ago under a token that was made at noon, with that many members, and
// was then restarted.
func restarted(t *testing.T, ago time.Duration, members uint32) *scenario {
	t.Helper()
	memo := soft.Memo{Token: born(0, 0).ID, Members: members}
	return begin(t, config(), policy.State{
		HasRun: true, LastRun: policy.Time(time.Hour).Add(-ago), Memo: memo.Bytes(), Seq: 10,
	})
}

// "The component discards a token t when it has been enabled from less than Δmin time units by another token preceding
// t": here only if that one may still exist.
func TestARunBeforeARestartCountsUnlessItsTokenDiedWithTheFleet(t *testing.T) {
	for _, c := range []struct {
		name    string
		token   guardian.Token
		members uint32
		removes bool
	}{
		{"a token that replaces a lost one", born(60, 20), 5, true},
		{"the same, and it is not known how many there were", born(60, 20), 0, true},
		{"the first token of the fleet", first(60, 20), 5, false},
		{"the first token of three of five", first(60, 20), 5, false},
		{"the first token, and it is not known how many there were", first(60, 20), 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := restarted(t, minInterval/2, c.members)
			s.fleet(1, 2, 3)
			s.arrive(c.token, 2)
			if c.removes {
				s.wantNotes(wander.NoteArrived, wander.NoteRemoved)
				return
			}
			s.wantNotes(wander.NoteArrived, wander.NoteResting)
			s.advance(skip)
			s.wantNotes(handoff.NoteOffered)
		})
	}
}

func TestARunInThisLifeCountsAgainstAFirstToken(t *testing.T) {
	s := restarted(t, 2*minInterval, 5)
	s.fleet(1, 2, 3, 4, 5)
	s.ran(born(1, 20))
	s.arrive(first(2, 30), 2)
	s.wantNotes(wander.NoteArrived, wander.NoteRemoved)
}

// The token of the last run may exist in the part of the fleet that is not here. The first token is not lost: more
// members may come.
func TestAPartOfAFleetKeepsAFirstTokenUnused(t *testing.T) {
	for name, c := range map[string]struct {
		then func(s *scenario)
		want []policy.Note
	}{
		"until the majority is here": {func(s *scenario) { s.fleet(1, 2, 3) }, []policy.Note{handoff.NoteOffered}},
		"until min_interval is over": {
			func(s *scenario) { s.advance(minInterval/2 - 10*skip - 1) }, []policy.Note{handoff.NoteOffered},
		},
		"although a caller waits": {func(s *scenario) { s.step(policy.Event{Kind: policy.Wanted}) }, nil},
		"although a caller waits a bit": {func(s *scenario) {
			s.step(policy.Event{Kind: policy.Wanted})
			s.step(policy.Event{Kind: policy.Unwanted})
		}, nil},
		"although others see it": {func(s *scenario) { s.fleet(1, 3) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := restarted(t, minInterval/2, 5)
			s.fleet(2, 3)
			s.arrive(first(60, 20), 2)
			s.wantNotes(wander.NoteArrived, wander.NoteResting)
			s.advance(10 * skip)
			s.wantNotes()
			c.then(s)
			s.advance(skip)
			s.wantNotes(c.want...)
			s.wantRuns(0)
		})
	}
}

// The token that a member meets while it keeps a first token unused is an older one.
func TestAnOlderTokenTakesThePlaceOfAFirstOneThatIsKeptUnused(t *testing.T) {
	s := restarted(t, minInterval/2, 5)
	s.fleet(2, 3)
	s.arrive(first(60, 20), 2)
	s.notes = nil
	old := born(0, 30)
	s.arrive(old, 2)
	s.wantNotes(wander.NoteArrived, wander.NoteMet, wander.NoteResting)
	s.wantHeld(old.ID)
}

// A token shows whether it is a first one: the members around its maker had met none.
func TestATokenShowsWhetherItIsAFirstOne(t *testing.T) {
	for name, c := range map[string]struct {
		scenario func(s *scenario)
		first    bool
	}{
		"after a start":   {func(s *scenario) { s.view(3, 4, 5); s.advance(3 * timeout) }, true},
		"alone":           {func(s *scenario) { s.view(3) }, true},
		"after a silence": {func(s *scenario) { s.fleet(3, 4, 5); s.advance(maxInterval) }, false},
		"in a part that met none": {
			func(s *scenario) { s.fleet(3, 4, 5); s.view(3, 4); s.advance(3 * timeout) },
			true,
		},
		"when all others have gone": {func(s *scenario) { s.fleet(3, 4, 5); s.view(3); s.advance(3 * timeout) }, true},
		"in a fleet whose others met": {
			func(s *scenario) { s.fleet(3, 4, 5); s.advance(maxInterval + time.Second) },
			false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, config(), policy.State{})
			c.scenario(s)
			if id := s.m.Detail(s.now.Time).Token.ID; id.IsZero() || wander.IsFirst(id) != c.first {
				t.Errorf("%v (%x) is the first: %v", id, id.Random, wander.IsFirst(id))
			}
		})
	}
}

package tree

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// A member that starts again forgets its numbers. However often it has asked before, the others hear its next request:
// its number comes from the wall clock, in units so small that no site asks once in each.
func TestASiteThatStartsAgainIsHeard(t *testing.T) {
	roster := ids(3)
	asks := func(wall int64) uint64 {
		m := New(Config{
			Gate: 1, Self: roster[1], Roster: roster, Backups: 1, Links: UDP, Timers: timers(), Rejoins: true,
			Entropy: new(counter),
		})
		var last uint64
		at := policy.Instant{Wall: wall}
		for _, ev := range []policy.Event{{Kind: policy.Started}, {Kind: policy.Wanted}} {
			m.Step(at, &ev, nil)
		}
		for range 100 { // ten in a second
			at.Time, at.Wall = at.Time+100e6, at.Wall+100e6
			m.request(at.Time, 0, nil)
			last = m.number
		}
		return last
	}
	first := asks(1.7e18)
	if again := asks(1.7e18 + 10e9); again-100 <= first {
		t.Errorf("requests have numbers up to %d; after a restart they begin before %d", first, again-99)
	}
}

// A site that starts again with its clock set back numbers its requests below those of before. A site that has heard
// the earlier ones answers so, and the site asks at once with a number that is heard, even if another site has passed
// the request on.
func TestASiteWhoseClockWasSetBackIsHeard(t *testing.T) {
	const before = 1e18 // a number of its former life
	s := newSmall(t, 3, func(cfg *Config) { cfg.Rejoins, cfg.Links, cfg.Backups = true, UDP, 1 })
	s.sites[1].heard[2], s.sites[0].last = before, 1
	heardAt := func() (sites []int) {
		for i := range s.sites {
			if s.sites[i].heard[2] > before {
				sites = append(sites, i)
			}
		}
		return sites
	}
	s.want(2)
	s.run(4*latency, true)
	if told := s.count(s.sent, "S1 BEHIND S2"); told != 1 || len(heardAt()) != 1 || heardAt()[0] != 1 {
		t.Errorf("told %d times, and heard at %v: %v", told, heardAt(), s.sent)
	}
	// A message that comes late, or twice, raises no number, and leads to no second request.
	asked, number := s.count(s.sent, "S2 REQ S1"), s.sites[2].number
	b := s.sites[1].say(2, number)
	msg := wire.Message{Gate: 1, Kind: KindBehind, From: s.sites[1].cfg.Self, To: s.sites[2].cfg.Self}
	b.write(&msg.Load)
	s.step(2, &policy.Event{Kind: policy.Received, Msg: msg})
	if asked != 1 || s.count(s.sent, "S2 REQ S1") != 1 || s.sites[2].number != number {
		t.Errorf("asked %d times, then %d, with %d", asked, s.count(s.sent, "S2 REQ S1"), s.sites[2].number)
	}
}

// Rule (v): "a site without position for several TokenTimers starts SEARCH_QUEUE"; the next time after as many again.
func TestASiteWithoutAPositionSearchesAfterSeveralTimersEachTime(t *testing.T) {
	s := newSmall(t, 3, nil)
	m := s.sites[2]
	m.pred[0] = 1
	for timer := range 3 * maxBlind {
		m.timeoutToken(policy.Instant{Time: s.now}, nil)
		if want := (timer + 1) % maxBlind; int(m.liveness.blind) != want {
			t.Errorf("after %d timers it has been without a position for %d, want %d", timer+1, m.liveness.blind, want)
		}
		m.pos, m.pred[0] = none, 1
	}
}

// The baseline: a site that gets the token answers those that look for it.
func TestASiteOfTheBaselineAnswersThoseThatLookForTheTokenThatComes(t *testing.T) {
	s := newSmall(t, 3, func(c *Config) { c.Recovery = Baseline })
	m := s.sites[1]
	m.searches.add(2, none, s.now.Add(time.Second))
	out := m.answerSearches(s.now, nil)
	if len(out) != 1 || out[0].Msg.Kind != KindPresent || out[0].Msg.To != s.sites[2].cfg.Self {
		t.Errorf("it answers %+v", out)
	}
}

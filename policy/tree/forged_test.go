package tree

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// rejoining is site 0 of three that has started again on UDP, as all sites of a strict gate do, at the given clock.
func rejoining(wall int64) (m *Machine, now policy.Instant) {
	roster := ids(3)
	m = New(Config{
		Gate: 1, Self: roster[0], Roster: roster, Backups: 2, Links: UDP, Timers: timers(), Rejoins: true,
		AsksFirst: true, Entropy: new(counter),
	})
	now = policy.Instant{Time: 1, Wall: wall}
	m.Step(now, &policy.Event{Kind: policy.Started}, nil)
	return m, now
}

// hear lets a site receive a message of site 1.
func hear(m *Machine, now policy.Instant, kind wire.Kind, b body) []policy.Effect {
	b.from = 1
	ev := policy.Event{
		Kind: policy.Received, Msg: wire.Message{Gate: 1, Kind: kind, From: m.cfg.Roster[1], To: m.cfg.Self},
	}
	b.write(&ev.Msg.Load)
	return m.Step(now, &ev, nil)
}

const today = int64(1_800_000_000e9)

// The predecessors that a COMMIT names are places in the roster: a COMMIT that names another place is not read,
// whatever the site does later.
func TestPredecessorsThatThereAreNotAreNotTaken(t *testing.T) {
	m, now := rejoining(today)
	m.Step(now, &policy.Event{Kind: policy.Wanted}, nil)
	hear(m, now, KindCommit, body{
		origin: 0, next: 0, number: m.number, pos: 3, preds: 2, pred: [MaxBackups]rank{1, 77},
	})
	if m.pos != none {
		t.Fatalf("the COMMIT was taken: pos %d", m.pos)
	}
	hear(m, now, KindCommit, body{origin: 0, next: 0, number: m.number, pos: 3, preds: 1, pred: [MaxBackups]rank{2}})
	if m.pos != none {
		t.Fatalf("a COMMIT that does not name its sender first was taken: pos %d", m.pos)
	}
	for range 20 { // it asks its predecessors, and searches
		at, ok := m.NextWake()
		if !ok {
			break
		}
		now.Time = max(now.Time, at)
		m.Step(now, &policy.Event{Kind: policy.Woke}, nil)
	}
	m.Facts(now.Time, nil)
}

// BEHIND names an impossible number: the site goes on with its own numbers, which the others believe.
func TestAnImpossibleNumberIsNotTakenOver(t *testing.T) {
	for name, number := range map[string]uint64{
		"the greatest": wire.MaxBirth, "two days ahead": uint64(today) + uint64(48*time.Hour),
	} {
		m, now := rejoining(today)
		m.Step(now, &policy.Event{Kind: policy.Wanted}, nil)
		before := m.number
		out := hear(m, now, KindBehind, body{origin: 0, next: nobody, number: number, pos: none})
		if m.number != before {
			t.Errorf("%s: the site's number is %d, it was %d", name, m.number, before)
		}
		if len(out) != 1 || out[0].Note != NoteImpossible {
			t.Errorf("%s: it does not say so: %+v", name, out)
		}
		hear(m, now, KindBehind, body{origin: 0, next: nobody, number: uint64(today) + uint64(23*time.Hour), pos: none})
		if m.number == before {
			t.Error("a number that can be was not taken over")
		}
		// A request that names it for another site does not shut out that site's later requests.
		hear(m, now, KindRequest, body{origin: 2, next: nobody, number: number, pos: none})
		if m.heard[2] != 0 {
			t.Errorf("%s: heard %d of site 2", name, m.heard[2])
		}
	}
}

// A site whose clock was set back numbers its requests by the clock that it has now.
func TestAClockThatWasSetBackRenumbers(t *testing.T) {
	m, now := rejoining(today + int64(72*time.Hour))
	now.Wall = today
	m.Step(now, &policy.Event{Kind: policy.Wanted}, nil)
	if m.number > uint64(today)+1 {
		t.Errorf("its number is %v ahead", time.Duration(m.number-uint64(today)))
	}
}

// Whatever positions, clocks and numbers of tokens others name, what a site sends stays readable.
func TestMessagesOfASiteStayReadableAfterForgedNumbers(t *testing.T) {
	m, now := rejoining(today)
	m.Step(now, &policy.Event{Kind: policy.Wanted}, nil)
	hear(m, now, KindCommit, body{
		origin: 0, next: 0, number: m.number, pos: maxPosition, clock: maxClock, known: wire.MaxSeq, preds: 1,
		pred: [MaxBackups]rank{1},
	})
	if m.pos != maxPosition {
		t.Errorf("pos %d", m.pos)
	}
	if m.known >= wire.MaxSeq {
		t.Errorf("it knows of the number %d, which cannot be", m.known)
	}
	m.election.clock = min(m.election.clock+1, maxClock)
	other, _ := rejoining(today)
	other.self, other.cfg.Self = 1, other.cfg.Roster[1]
	b := m.say(m.self, m.number)
	var load wire.Load
	b.write(&load)
	if !other.read(&load, m.cfg.Self, new(body)) {
		t.Errorf("another site does not read %+v", b)
	}
}

// A site that has heard of a token that was made later uses no token from before, although none of the later one has
// come to it.
func TestATokenThatWasMadeBeforeAnotherIsDiscarded(t *testing.T) {
	m, now := rejoining(today)
	m.Step(now, &policy.Event{Kind: policy.Wanted}, nil)
	token := wire.Ref{ID: wire.TokenID{Birth: 1, Generator: m.cfg.Roster[1]}, Seq: m.seen + 5}
	m.known = token.Seq.Revived(1)
	arrived := body{from: 1, origin: 0, number: m.number, next: nobody, pos: none}
	out := m.arrive(now, m.cfg.Roster[1], &token, &arrived, nil)
	if m.holds || len(out) != 3 || out[2].Kind != policy.Gave || out[2].Cause != policy.CauseOvertaken {
		t.Errorf("it holds the older token: %v; %+v", m.holds, out)
	}
}

package tree

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"slices"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim/explore"
	"github.com/wanderd/wanderd/wire"
)

// A world of three sites is explored to a depth: every order in which messages arrive that are under way together, and
// every moment at which a site wants its section, ends it, withdraws its demand, or crashes. Messages take no longer
// than a timer: the next timer triggers only when nothing is under way, "the system is synchronous" (section 4), and it
// is the one that is due first. In every state:
//
//   - "only one process can execute a critical section at a given time";
//   - there is one token at most, and none is made while there is one;
//   - from the states at the end of the search, when all messages arrive and timers trigger, every site that waits
//     is served.
func TestThreeSitesAreExploredExhaustively(t *testing.T) {
	for _, w := range []struct {
		name                        string
		recovery                    Recovery
		wants, crashes, withdrawals int
		depth                       int
	}{
		{name: "fair, three sections", wants: 3, depth: 24},
		{name: "fair, four sections", wants: 4, depth: 18},
		{name: "fair, one crashes", wants: 3, crashes: 1, depth: 16},
		{name: "fair, two crash", wants: 2, crashes: 2, depth: 20},
		{name: "fair, one withdraws", wants: 3, withdrawals: 1, depth: 18},
		{name: "baseline, one crashes", recovery: Baseline, wants: 3, crashes: 1, depth: 16},
		{name: "baseline, two crash", recovery: Baseline, wants: 2, crashes: 2, depth: 20},
	} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			e := newExplorer(w.recovery, w.depth)
			first := e.begin()
			first.wants, first.crashes, first.withdrawals = w.wants, w.crashes, w.withdrawals
			if err := e.From(first); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states, %d regenerations, %d of them in the ends", e.States, e.regenerated, e.ended)
			if e.States < 1000 {
				t.Errorf("%d states only", e.States)
			}
		})
	}
}

// state is a world of three sites; to branch is to copy.
type state struct {
	now                         policy.Time
	sites                       [3]Machine
	down, running               [3]bool
	mail                        []wire.Message
	wants, crashes, withdrawals int
	// broken is the rule that the last step has broken.
	broken error
}

type explorer struct {
	explore.Search[state]
	roster             []wire.MemberID
	recovery           Recovery
	seed               maphash.Seed
	regenerated, ended int
	ending             bool
	buffer             []byte
}

func newExplorer(recovery Recovery, depth int) *explorer {
	e := &explorer{roster: ids(3), recovery: recovery, seed: maphash.MakeSeed()}
	e.Depth, e.Visited, e.Branch, e.End = depth, explore.ByKey(e.key), e.choices, e.end
	e.Judge = func(s *state) error { return s.broken }
	return e
}

// Uint64 is the sites' entropy, which they need for nothing that matters.
func (e *explorer) Uint64() uint64 { return 1 }

func (e *explorer) begin() *state {
	s := &state{}
	for i := range s.sites {
		s.sites[i] = *New(Config{
			Gate: 1, Self: e.roster[i], Roster: e.roster, Backups: 2, Recovery: e.recovery, Timers: timers(),
			Entropy: e,
		})
	}
	for i := range s.sites {
		e.step(s, i, &policy.Event{Kind: policy.Started})
	}
	return s
}

// branch copies a state.
func (s *state) branch() *state {
	next := *s
	next.mail = slices.Clone(s.mail)
	for i := range next.sites {
		next.sites[i].heard = slices.Clone(s.sites[i].heard)
		next.sites[i].searches.sites = slices.Clone(s.sites[i].searches.sites)
	}
	return &next
}

func (e *explorer) step(s *state, i int, ev *policy.Event) {
	for _, f := range s.sites[i].Step(policy.Instant{Time: s.now, Wall: int64(s.now)}, ev, nil) {
		switch f.Kind {
		case policy.Send:
			if to := index(f.Msg.To); !s.down[to] {
				s.mail = append(s.mail, f.Msg)
			}
		case policy.Run:
			if slices.Contains(s.running[:], true) {
				s.fail(fmt.Sprintf("S%d enters its section, and another is in its own", i))
			}
			s.running[i] = true
		case policy.Took:
			if f.Cause == policy.CauseMade && f.Token.Seq > 1 {
				e.regenerated++
				if e.ending {
					e.ended++
				}
				if e.tokens(s, i) > 0 {
					s.fail(fmt.Sprintf("S%d makes a token, and there is one", i))
				}
			}
		case policy.Save, policy.Extend, policy.Stop, policy.PreSign, policy.Gave, policy.Announce, policy.Tell,
			policy.Gone, policy.Proclaim:
		}
	}
}

// tokens counts the tokens, except that of one site.
func (e *explorer) tokens(s *state, but int) int {
	n := 0
	for i := range s.sites {
		if i != but && !s.down[i] && s.sites[i].holds {
			n++
		}
	}
	for i := range s.mail {
		if s.mail[i].Kind == KindToken {
			n++
		}
	}
	return n
}

func (s *state) fail(what string) {
	if s.broken == nil {
		s.broken = fmt.Errorf("%s\n%s\n%s\n%s\n%d messages under way", what, &s.sites[0], &s.sites[1], &s.sites[2],
			len(s.mail))
	}
}

// choices are what can happen next.
func (e *explorer) choices(s *state, reach func(*state, string)) {
	for i := range s.mail {
		next := s.branch()
		e.deliver(next, i)
		reach(next, s.mail[i].Kind.String()+" arrives")
	}
	for i := range s.sites {
		e.choicesOf(s, i, reach)
	}
	if next := s.branch(); len(s.mail) == 0 && e.wake(next) {
		reach(next, "the next timer")
	}
}

// choicesOf are the things that can happen at a site by itself.
func (e *explorer) choicesOf(s *state, i int, reach func(*state, string)) {
	if s.down[i] {
		return
	}
	m := &s.sites[i]
	if s.wants > 0 && !m.wanted {
		next := s.branch()
		next.wants--
		e.step(next, i, &policy.Event{Kind: policy.Wanted})
		reach(next, fmt.Sprintf("S%d wants its section", i))
	}
	if s.withdrawals > 0 && m.wanted && !s.running[i] {
		next := s.branch()
		next.withdrawals--
		e.step(next, i, &policy.Event{Kind: policy.Unwanted})
		reach(next, fmt.Sprintf("S%d takes its demand back", i))
	}
	if s.running[i] {
		next := s.branch()
		e.finish(next, i)
		reach(next, fmt.Sprintf("S%d ends its section", i))
	}
	if s.crashes > 0 {
		next := s.branch()
		next.crashes--
		next.down[i], next.running[i] = true, false
		next.mail = slices.DeleteFunc(next.mail, func(m wire.Message) bool { return index(m.To) == i })
		reach(next, fmt.Sprintf("S%d crashes", i))
	}
}

func (e *explorer) deliver(s *state, i int) {
	m := s.mail[i]
	s.mail = slices.Delete(s.mail, i, i+1)
	e.step(s, index(m.To), &policy.Event{Kind: policy.Received, Msg: m})
}

func (e *explorer) finish(s *state, i int) {
	s.running[i] = false
	e.step(s, i, &policy.Event{Kind: policy.Finished})
}

// wake lets the timer trigger that is due first.
func (e *explorer) wake(s *state) bool {
	first, at := -1, policy.Never
	for i := range s.sites {
		if due, ok := s.sites[i].NextWake(); ok && !s.down[i] && due < at {
			first, at = i, due
		}
	}
	if first < 0 {
		return false
	}
	s.now = max(s.now, at)
	e.step(s, first, &policy.Event{Kind: policy.Woke})
	return true
}

// patience is how many things may happen until every site is served.
const patience = 2000

// end lets everything that is under way arrive, sections end and timers trigger, until no site waits.
func (e *explorer) end(last *state) error {
	s := last.branch()
	e.ending = true
	defer func() { e.ending = false }()
	for range patience {
		switch i := slices.Index(s.running[:], true); {
		case s.broken != nil:
			return s.broken
		case len(s.mail) > 0:
			e.deliver(s, 0)
		case i >= 0:
			e.finish(s, i)
		case !e.waits(s):
			return nil
		case !e.wake(s):
			s.fail("somebody waits, and nothing happens any more")
		}
	}
	s.fail("somebody waits for ever")
	return s.broken
}

func (e *explorer) waits(s *state) bool {
	for i := range s.sites {
		if s.sites[i].wanted && !s.down[i] {
			return true
		}
	}
	return false
}

// key tells states apart. Time counts as far as timers and searches are from now.
func (e *explorer) key(s *state) uint64 {
	b := e.buffer[:0]
	put := func(values ...int64) {
		for _, v := range values {
			b = binary.AppendVarint(b, v)
		}
	}
	flag := func(values ...bool) {
		for _, v := range values {
			b = append(b, 0)
			if v {
				b[len(b)-1] = 1
			}
		}
	}
	for i := range s.sites {
		m := &s.sites[i]
		flag(s.broken != nil, s.down[i], s.running[i], m.req, m.candidate, m.wanted, m.holds)
		put(int64(m.last), int64(m.next.rank), int64(m.next.number), m.pos, int64(m.newPred.id), m.newPred.pos,
			int64(m.newPred.next))
		put(int64(m.pred[0]), int64(m.pred[1]), int64(m.timer), int64(m.number), int64(m.commitNumber),
			int64(m.servedNumber), int64(m.known))
		if m.timer != timerOff {
			put(int64(m.due - s.now))
		}
		put(int64(m.election.clock), int64(m.election.leader), int64(m.election.leaderStamp),
			int64(max(m.election.until-s.now, 0)))
		put(int64(m.liveness.round), int64(m.liveness.blind), int64(m.liveness.asked), int64(m.liveness.best),
			m.liveness.bestPos)
		for j := range m.heard {
			put(int64(m.heard[j]), int64(max(m.searches.sites[j].until-s.now, 0)), m.searches.sites[j].pos)
		}
	}
	put(int64(s.wants), int64(s.crashes), int64(s.withdrawals))
	var mail []uint64
	for i := range s.mail {
		m := &s.mail[i]
		mail = append(mail,
			maphash.Bytes(e.seed, append(append([]byte{uint8(m.Kind), m.From[0], m.To[0]}, m.Load[:]...),
				byte(m.Token.Seq))))
	}
	slices.Sort(mail)
	for _, hash := range mail {
		b = binary.BigEndian.AppendUint64(b, hash)
	}
	e.buffer = b
	return maphash.Bytes(e.seed, b)
}

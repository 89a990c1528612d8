package tree

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// In these tests a message takes 10 ms, CommitTimer and TokenTimer 1 s, ReconnectionTimer 300 ms, an answer at most 50
// ms.
const latency = 10 * time.Millisecond

func timers() Timers {
	return Timers{
		Commit: time.Second, Token: time.Second, Reconnection: 300 * time.Millisecond, Liveness: 50 * time.Millisecond,
	}
}

// letter is a message on its way.
type letter struct {
	at  policy.Time
	msg wire.Message
}

// small is a handful of sites, whose messages all arrive, or are lost at a site that is down.
type small struct {
	t       *testing.T
	now     policy.Time
	sites   []*Machine
	down    []bool
	running []bool
	mail    []letter
	drawn   uint64
	// told has "S1 search_pos" and the like, sent "S1 REQ S0".
	told, sent []string
	// lose, if it is set, decides which messages are lost.
	lose func(*wire.Message) bool
}

func (s *small) Uint64() uint64 {
	s.drawn++
	return s.drawn
}

func ids(n int) []wire.MemberID {
	roster := make([]wire.MemberID, n)
	for i := range roster {
		roster[i][0] = byte(i + 1)
	}
	return roster
}

func newSmall(t *testing.T, n int, change func(*Config)) *small {
	s := &small{t: t, down: make([]bool, n), running: make([]bool, n)}
	roster := ids(n)
	for i := range n {
		cfg := Config{Gate: 1, Self: roster[i], Roster: roster, Backups: 2, Timers: timers(), Entropy: s}
		if change != nil {
			change(&cfg)
		}
		s.sites = append(s.sites, New(cfg))
	}
	for i := range n {
		s.step(i, &policy.Event{Kind: policy.Started})
	}
	return s
}

func (s *small) step(i int, ev *policy.Event) {
	for _, e := range s.sites[i].Step(policy.Instant{Time: s.now, Wall: int64(s.now)}, ev, nil) {
		switch e.Kind {
		case policy.Send:
			s.sent = append(s.sent, fmt.Sprintf("S%d %s S%d", i, kinds().Of(e.Msg.Kind).Name, index(e.Msg.To)))
			if s.lose == nil || !s.lose(&e.Msg) {
				s.mail = append(s.mail, letter{s.now.Add(latency), e.Msg})
			}
		case policy.Run:
			if slices.Contains(s.running, true) {
				s.t.Errorf("%v: S%d enters its section while another is in its own", s.now, i)
			}
			s.running[i] = true
			s.told = append(s.told, fmt.Sprintf("S%d RUN", i))
		case policy.Tell:
			s.told = append(s.told, fmt.Sprintf("S%d %s", i, notes().Of(e.Note).Name))
		case policy.Save, policy.Extend, policy.Stop, policy.PreSign, policy.Took, policy.Gave, policy.Announce,
			policy.Gone, policy.Proclaim:
		}
	}
}

func index(id wire.MemberID) int { return int(id[0]) - 1 }

func (s *small) want(sites ...int) {
	for _, i := range sites {
		s.step(i, &policy.Event{Kind: policy.Wanted})
	}
}

func (s *small) finish(i int) {
	s.running[i] = false
	s.step(i, &policy.Event{Kind: policy.Finished})
}

func (s *small) crash(sites ...int) {
	for _, i := range sites {
		s.down[i], s.running[i] = true, false
	}
}

// run lets time pass. Sections end by themselves after 10 ms if serves.
func (s *small) run(d time.Duration, serves bool) {
	until := s.now.Add(d)
	for {
		at, what := until.Add(1), func() {}
		for i := range s.mail {
			if s.mail[i].at < at {
				at, what = s.mail[i].at, func() { s.deliver(i) }
			}
		}
		for i, m := range s.sites {
			if wake, ok := m.NextWake(); ok && !s.down[i] && wake < at {
				at, what = max(wake, s.now), func() { s.step(i, &policy.Event{Kind: policy.Woke}) }
			}
		}
		if i := slices.Index(s.running, true); serves && i >= 0 {
			s.now = s.now.Add(latency)
			s.finish(i)
			continue
		}
		if at > until {
			s.now = max(s.now, until)
			return
		}
		s.now = max(s.now, at)
		what()
	}
}

func (s *small) deliver(i int) {
	m := s.mail[i].msg
	s.mail = slices.Delete(s.mail, i, i+1)
	if to := index(m.To); !s.down[to] {
		s.step(to, &policy.Event{Kind: policy.Received, Msg: m})
	}
}

// runs is the order in which sites entered their sections.
func (s *small) runs() []int {
	var order []int
	for _, told := range s.told {
		var i int
		if n, _ := fmt.Sscanf(told, "S%d RUN", &i); n == 1 && told == fmt.Sprintf("S%d RUN", i) {
			order = append(order, i)
		}
	}
	return order
}

func (s *small) count(list []string, what string) int {
	n := 0
	for _, line := range list {
		if line == what {
			n++
		}
	}
	return n
}

// has is what a site's variables are.
type has struct {
	last, next rank
	req        bool
	pos        position
}

func (s *small) expect(i int, want has) {
	s.t.Helper()
	m := s.sites[i]
	if got := (has{m.last, m.next.rank, m.req, m.pos}); got != want {
		s.t.Errorf("S%d has %+v, want %+v", i, got, want)
	}
}

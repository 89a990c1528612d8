package ring

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/wire"
)

// Small rings are explored to the end: every order in which members ask, messages arrive on FIFO links that lose
// nothing, and critical sections end. A state is a value of a few bytes; the machine that takes a step is made from it
// and read back.

const maxSmall = 5

// place is where the token is.
type place uint8

const (
	onLink place = iota
	atRest
	inUse
)

// small is a ring in one state.
type small struct {
	// waits, pending and so on are sets of members, one bit each.
	waits, pending, mp, asked, nextWants uint8
	// ahead and behind are how many requests are on the link from a member, ahead of the token or behind it. Where the
	// token is not on the link, all are ahead.
	ahead, behind [maxSmall]uint8
	// at is the member that has the token, or has sent it.
	at      uint8
	place   place
	counter uint8
	active  bool
}

// edge is a step from one state to another: how many messages it delivers, and how many requests begin with it.
type edge struct {
	to                  int32
	delivered, requests uint8
	// reaches is the member that the token comes to.
	reaches int8
}

// explorer explores the rings of n members under one protocol.
type explorer struct {
	n        int
	machines []Machine
	members  []wire.MemberID
	// printed is protocol D without its correction: an active token has no end of moves.
	printed bool
	effects []policy.Effect
	event   policy.Event
}

func rosterOf(n int) []wire.MemberID {
	members := make([]wire.MemberID, n)
	for i := range members {
		binary.BigEndian.PutUint32(members[i][:], uint32(i)+1)
	}
	return members
}

// rankOf is the inverse.
func rankOf(id wire.MemberID) int { return int(binary.BigEndian.Uint32(id[:])) - 1 }

func configOf(request Request, members []wire.MemberID, i int) Config {
	return Config{
		Gate: 1, Self: members[i], Members: members, Request: request, Timeout: time.Second,
		Entropy: rand.NewPCG(1, uint64(i)),
	}
}

func newExplorer(request Request, n int) *explorer {
	e := &explorer{n: n, members: rosterOf(n)}
	for i := range n {
		cfg := configOf(request, e.members, i)
		cfg.Rejoins = true // without a token from the beginning
		m := New(cfg)
		m.Step(policy.Instant{}, &policy.Event{Kind: policy.Started}, nil)
		m.Step(policy.Instant{}, &policy.Event{Kind: policy.PeersChanged, Peers: e.members}, nil)
		m.calling, m.asked, m.nextWants = 0, false, false
		e.machines = append(e.machines, *m)
	}
	return e
}

// hop is the number of every hop: the machines are created for each step, and have seen none.
const hop = 100

// tokenTo is the token on its way to a member.
func (e *explorer) tokenTo(to int, t token) wire.Message {
	msg := wire.Message{Kind: kcopies.KindToken, From: e.members[(to+e.n-1)%e.n], To: e.members[to]}
	data := t.data()
	_, msg.Load = e.machines[(to+e.n-1)%e.n].copies.Hop(kcopies.Site(to), &data)
	msg.Token = wire.Ref{ID: e.machines[to].copies.Ref().ID, Seq: hop}
	return msg
}

// begin is the clean start: the token rests at member 0, no member waits, nothing is on its way.
func (e *explorer) begin() small { return small{place: atRest} }

// step gives an event to member i, and puts what it sends on its links.
func (e *explorer) step(s *small, i int) {
	bit := uint8(1) << i
	m := e.machines[i]
	m.wanted, m.pending, m.mp, m.asked, m.nextWants = s.waits&bit != 0, s.pending&bit != 0, s.mp&bit != 0,
		s.asked&bit != 0, s.nextWants&bit != 0
	m.T = token{counter: uint16(s.counter), active: s.active, tour: 1}
	holds := s.place != onLink && int(s.at) == i
	switch {
	case holds && s.place == inUse:
		m.state = running
	case holds:
		m.state = resting
	}
	out := m.Step(policy.Instant{}, &e.event, e.effects[:0])
	if m.state == saving {
		out = m.Step(policy.Instant{}, &policy.Event{Kind: policy.Saved}, out)
	}
	put := func(set *uint8, on bool) {
		if *set &^= bit; on {
			*set |= bit
		}
	}
	put(&s.waits, m.wanted)
	put(&s.pending, m.pending)
	put(&s.mp, m.mp)
	put(&s.asked, m.asked)
	put(&s.nextWants, m.nextWants)
	switch m.state {
	case running:
		s.at, s.place = uint8(i), inUse
	case resting:
		s.at, s.place = uint8(i), atRest
	case absent, saving, offering, gone:
	}
	if m.holds() || holds {
		s.counter, s.active = uint8(m.T.counter), m.T.active
	}
	e.effects = out
	for k := range out {
		if out[k].Kind == policy.Send {
			e.send(s, i, &out[k].Msg)
		}
	}
}

func (e *explorer) send(s *small, i int, msg *wire.Message) {
	switch {
	case msg.Kind == kcopies.KindToken:
		var t token
		_, data := kcopies.Fields(&msg.Load)
		t.read(data, e.n)
		s.at, s.place, s.counter, s.active = uint8(i), onLink, uint8(t.counter), t.active
		if e.printed && t.active {
			s.counter = uint8(e.n - 1)
		}
	case e.machines[i].cfg.Request != Martin && s.place == onLink && int(s.at) == i:
		s.behind[i]++
	default:
		s.ahead[i]++
	}
}

// to is the member to which requests from member i go.
func (e *explorer) to(i int) int {
	if e.machines[i].cfg.Request == Martin {
		return (i + e.n - 1) % e.n
	}
	return (i + 1) % e.n
}

// branch calls reach with every state that can come next.
func (e *explorer) branch(s *small, reach func(next small, how edge)) {
	for i := range e.n {
		bit := uint8(1) << i
		if using := s.place == inUse && int(s.at) == i; s.waits&bit == 0 && !using {
			next := *s
			e.event = policy.Event{Kind: policy.Wanted}
			e.step(&next, i)
			reach(next, edge{requests: 1, reaches: -1})
		} else if using {
			next := *s
			e.event = policy.Event{Kind: policy.Finished}
			e.step(&next, i)
			reach(next, edge{reaches: -1})
		}
		to := e.to(i)
		if s.ahead[i] > 0 {
			next := *s
			next.ahead[i]--
			e.event = policy.Event{
				Kind: policy.Received, Msg: wire.Message{Kind: KindRequest, From: e.members[i], To: e.members[to]},
			}
			request{tour: 1}.write(&e.event.Msg)
			e.step(&next, to)
			reach(next, edge{delivered: 1, reaches: -1})
		}
		if first := s.ahead[i] == 0 || e.machines[i].cfg.Request == Martin; s.place == onLink && int(s.at) == i &&
			first {
			next := *s
			if e.machines[i].cfg.Request != Martin {
				next.ahead[i], next.behind[i] = s.behind[i], 0
			}
			to := (i + 1) % e.n
			t := token{counter: uint16(s.counter), active: s.active, tour: 1}
			e.event = policy.Event{Kind: policy.Received, Msg: e.tokenTo(to, t)}
			e.step(&next, to)
			reach(next, edge{delivered: 1, reaches: int8(to)})
		}
	}
}

// ask lets member 0 ask.
func (e *explorer) ask(s *small) {
	e.event = policy.Event{Kind: policy.Wanted}
	e.step(s, 0)
}

// turn renames the members so that member first becomes member 0.
func (e *explorer) turn(s small, first int) small {
	bits := func(b uint8) uint8 { return (b>>first | b<<(e.n-first)) & (1<<e.n - 1) }
	t := small{
		waits: bits(s.waits), pending: bits(s.pending), mp: bits(s.mp), asked: bits(s.asked),
		nextWants: bits(s.nextWants),
		at:        uint8((int(s.at) + e.n - first) % e.n), place: s.place, counter: s.counter, active: s.active,
	}
	for i := range e.n {
		t.ahead[i], t.behind[i] = s.ahead[(i+first)%e.n], s.behind[(i+first)%e.n]
	}
	return t
}

// graph has all states that can be reached, and what leads from one to another.
type graph struct {
	states []small
	edges  [][]edge
}

// reachable explores from some states to the end. turned is true if rings that differ only in names count as one. A
// state in which the token comes to member ends has nothing after it; -1 means no member.
func (e *explorer) reachable(from []small, turned bool, ends int8) *graph {
	g, known := &graph{}, map[small]int32{}
	number := func(s small) int32 {
		if turned {
			s = e.turn(s, int(s.at))
		}
		at, ok := known[s]
		if !ok {
			at = int32(len(g.states))
			known[s] = at
			g.states, g.edges = append(g.states, s), append(g.edges, nil)
		}
		return at
	}
	for _, s := range from {
		number(s)
	}
	for i := 0; i < len(g.states); i++ {
		s := g.states[i]
		if ends >= 0 && s.waits>>ends&1 == 0 {
			continue
		}
		e.branch(&s, func(next small, how edge) {
			how.to = number(next)
			g.edges[i] = append(g.edges[i], how)
		})
	}
	return g
}

// unbounded is more than anything that has a bound here.
const unbounded = 1000

// costliest is, for each state, the highest cost of a way from there, each step weighted by cost; unbounded if there is
// no highest.
func (g *graph) costliest(cost func(edge) int) []int {
	most := make([]int, len(g.states))
	for changed := true; changed; {
		changed = false
		for i := len(g.states) - 1; i >= 0; i-- {
			for _, step := range g.edges[i] {
				if c := min(cost(step)+most[step.to], unbounded); c > most[i] {
					most[i], changed = c, true
				}
			}
		}
	}
	return most
}

// quiet reports whether nothing more happens until a member asks.
func (s *small) quiet() bool {
	return s.place == atRest && s.ahead == [maxSmall]uint8{} && s.behind == [maxSmall]uint8{}
}

func (s small) String() string {
	return fmt.Sprintf("waits %b pending %b M %b links %v %v at %d place %d counter %d active %t",
		s.waits, s.pending, s.mp, s.ahead, s.behind, s.at, s.place, s.counter, s.active)
}

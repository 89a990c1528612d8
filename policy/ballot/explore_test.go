package ballot_test

import (
	"flag"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/wire"
)

// explorer explores a small world.
type explorer struct {
	smallWorld
	end    policy.Time
	roster ballot.Roster
	ids    []wire.MemberID
	// drawing is whose draws are drawn from now.
	drawing *uint64
	who     int
	seed    maphash.Seed
	// seen has, for each state without its messages, the messages with which it was visited.
	seen map[uint64][]mail
	// numbers are of the messages that there were, with drawn numbers as they are in a form.
	numbers         map[sent]uint32
	layouts         layouts
	visited, steps  int
	deepest         int
	err             error
	path            []string
	elected, passed int
	out             []policy.Effect
	// own are the last messages of the kinds that only one protocol has.
	own []wire.Message
}

// mail are messages as numbers of the explorer, in their order.
type mail struct{ pending, arrived []uint32 }

// covers reports whether all that may follow with other messages may follow with these, too: as many may arrive, which is to say be lost, and no
// more have arrived, which do not come again.
func (m *mail) covers(o *mail) bool {
	return includes(m.pending, o.pending) && includes(o.arrived, m.arrived)
}

// includes reports whether all of a sorted list are in another one, as often.
func includes(all, some []uint32) bool {
	for _, n := range some {
		for len(all) > 0 && all[0] < n {
			all = all[1:]
		}
		if len(all) == 0 || all[0] != n {
			return false
		}
		all = all[1:]
	}
	return true
}

// isNew reports whether a state has to be explored: none that covers it has been visited.
func (x *explorer) isNew(s *small) bool {
	key, m := x.known(s)
	was := x.seen[key]
	for i := range was {
		if was[i].covers(&m) {
			return false
		}
	}
	was = slices.DeleteFunc(was, func(o mail) bool { return m.covers(&o) })
	x.seen[key] = append(was, m)
	return true
}

// naming gives drawn numbers the names by which a state is known again: the first that occurs twice is 1, and so on. Which one occurs once means nothing.
type naming struct {
	ids   []uint64
	count []int
	as    []uint64
	last  uint64
}

// once is the name of all that occur once.
const once = 1 << 63

func (n *naming) meet(id uint64) {
	i := slices.Index(n.ids, id)
	switch {
	case id == 0:
	case i >= 0:
		n.count[i]++
	default:
		n.ids, n.count, n.as = append(n.ids, id), append(n.count, 1), append(n.as, 0)
	}
}

func (n *naming) of(id uint64) uint64 {
	i := slices.Index(n.ids, id)
	switch {
	case id == 0:
		return 0
	case i < 0 || n.count[i] == 1:
		return once
	case n.as[i] == 0:
		n.last++
		n.as[i] = n.last
	}
	return n.as[i]
}

// nameAll counts all drawn numbers of a state.
func (s *small) nameAll() (n naming) {
	for i := range s.seats {
		for _, id := range s.seats[i].form.drawn {
			n.meet(id)
		}
	}
	for _, list := range [][]sent{s.pending, s.arrived} {
		for i := range list {
			n.meet(uint64(list[i].exchange))
			n.meet(uint64(list[i].nonce))
		}
	}
	for i := range s.seats {
		for _, id := range s.seats[i].form.finished {
			if slices.Contains(n.ids, id) {
				n.meet(id)
			}
		}
	}
	return n
}

// known returns by what a state is known again.
func (x *explorer) known(s *small) (key uint64, m mail) {
	var h maphash.Hash
	h.SetSeed(x.seed)
	write := func(n uint64) { _, _ = h.Write(raw(&n)) }
	n := s.nameAll()
	for i := range s.seats {
		f := &s.seats[i].form
		write(f.hash)
		for _, id := range f.drawn {
			write(n.of(id))
		}
		_, _ = h.Write(s.disk[i][:])
		_, _ = h.Write(raw(&s.run[i]))
	}
	m.pending, m.arrived = x.numbersOf(&n, s.pending), x.numbersOf(&n, s.arrived)
	for i := range s.seats {
		finished := slices.Clone(s.seats[i].form.finished)
		for k, id := range finished {
			finished[k] = n.of(id)
		}
		slices.Sort(finished)
		for _, name := range finished {
			write(name)
		}
	}
	write(uint64(s.now))
	write(uint64(s.crashes)<<32 | uint64(s.hops))
	write(uint64(s.newest))
	return h.Sum64(), m
}

// numbersOf returns the numbers of messages, in their order.
func (x *explorer) numbersOf(n *naming, list []sent) []uint32 {
	all := make([]uint32, len(list))
	for i, m := range list {
		m.exchange, m.nonce = wire.Exchange(n.of(uint64(m.exchange))), wire.Nonce(n.of(uint64(m.nonce)))
		number, ok := x.numbers[m]
		if !ok {
			number = uint32(len(x.numbers))
			x.numbers[m] = number
		}
		all[i] = number
	}
	slices.Sort(all)
	return all
}

// raw is the memory of a value.
func raw[T any](v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }

// isDead reports whether nothing can come of a message any more. Answers are to a question that is over, or to an offer that is; a Token is one that
// has come, unless its addressee forgets that; and while one is here, a gate does not look at others.
func (x *explorer) isDead(s *small, m *sent) bool {
	to := &s.seats[m.to]
	msg := x.message(m)
	if to.Expects(&msg) {
		return false
	}
	if m.kind == handoff.KindToken && s.crashes < x.crashes {
		return false
	}
	return m.kind != handoff.KindToken && m.kind != handoff.KindCommit || !s.run[m.to].active && to.Ballot().Token() == nil
}

// comesAgain reports whether a message that has arrived may be sent again: its question or offer is open.
func (s *small) comesAgain(m *sent) bool {
	id := uint64(m.exchange)
	switch m.kind {
	case handoff.KindToken, ballot.KindPromise, ballot.KindRenew:
	case handoff.KindAck, handoff.KindCommit:
		id = uint64(m.nonce)
	default:
		return false
	}
	return slices.Contains(s.seats[m.from].form.drawn, id)
}

// forget forgets the messages of which nothing can come.
func (x *explorer) forget(s *small) {
	s.pending = slices.DeleteFunc(s.pending, func(m sent) bool { return x.isDead(s, &m) })
	s.arrived = slices.DeleteFunc(s.arrived, func(m sent) bool { return !s.comesAgain(&m) })
}

// visit explores what may follow a state.
func (x *explorer) visit(s *small) {
	x.steps++
	x.forget(s)
	if !x.isNew(s) {
		return
	}
	x.visited++
	x.deepest = max(x.deepest, len(x.path))
	for i := range s.seats {
		for k := range i {
			if a, b := s.seats[i].Ballot().Token(), s.seats[k].Ballot().Token(); a != nil && b != nil && a.ID == b.ID {
				x.err = fmt.Errorf("holders: %d and %d hold %s and %s", i, k, seqName(a.Seq), seqName(b.Seq))
			}
		}
	}
	if s.now < x.end {
		x.try(s, "a tick", x.tick)
	}
	for n := range s.pending {
		m := &s.pending[n]
		msg := x.message(m)
		if !s.seats[m.to].Expects(&msg) || x.hops > 0 && s.hops >= x.hops && m.kind == handoff.KindToken {
			continue
		}
		x.try(s, m.describe(), func(next *small) { x.arrive(next, n) })
	}
	for i := range s.seats {
		if s.run[i].active {
			x.try(s, fmt.Sprintf("the command on %d ends", i), func(s *small) { x.ends(s, i) })
		}
		for _, host := range []bool{false, true} {
			if s.crashes < x.crashes {
				x.try(s, fmt.Sprintf("%d crashes, its host %v", i, host), func(s *small) { x.crash(s, i, host) })
			}
		}
	}
}

// try lets something happen to a copy of the world.
func (x *explorer) try(s *small, what string, do func(*small)) {
	if x.err != nil {
		return
	}
	next := s.clone()
	x.path = append(x.path, what)
	if do(next); x.err == nil {
		x.visit(next)
	}
	if x.err == nil {
		x.path = x.path[:len(x.path)-1]
	}
}

// smallWorld is a world, and the bound of what happens in it: how many leases of time pass, how many members crash, how many offers of the token
// arrive, zero for all there are. A message arrives once.
type smallWorld struct {
	kind    gateKind
	ticks   policy.Time
	crashes int
	hops    int
}

func (w smallWorld) String() string { return fmt.Sprintf("%d leases, %d crashes", w.ticks, w.crashes) }

// smallWorlds are three members of a kind, with one handoff: what a crash does, what a lease of time brings, with which a ballot follows, and both.
func smallWorlds(kind gateKind, long bool) []smallWorld {
	hops := 0
	if kind == always { // whose token goes round for ever
		hops = 3
	}
	all := []smallWorld{{kind, 0, 1, hops}, {kind, 1, 0, hops}, {kind, 1, 1, hops}}
	if !long && kind != lock && kind != tree {
		return all[:1]
	}
	return all
}

var exploreLong = flag.Bool("ballot.long", false, "explore the small worlds of rings, too, in which time passes: they take minutes")

// Three members, one handoff, one ballot, one crash, in each gate. Rings have twenty times the states of the others, because their token
// goes on: what time brings there is explored with -ballot.long only.
func TestSmallWorldsExhaustively(t *testing.T) {
	if testing.Short() {
		t.Skip("explores tens of thousands of states")
	}
	for kind := range paced {
		t.Run(gateKinds()[kind], func(t *testing.T) {
			for _, w := range smallWorlds(kind, *exploreLong) {
				t.Run(w.String(), func(t *testing.T) {
					t.Parallel()
					w.explore(t)
				})
			}
		})
	}
}

func (w smallWorld) explore(t *testing.T) {
	t.Helper()
	x, s, err := newExplorer(w)
	if err != nil {
		t.Fatal(err)
	}
	x.contend(s)
	x.visit(s)
	switch {
	case x.err != nil:
		t.Fatalf("%v, after:\n%s", x.err, strings.Join(x.path, "\n"))
	case x.elected == 0 && w.ticks > 0 || x.passed == 0:
		t.Errorf("%d elections, %d handoffs", x.elected, x.passed)
	}
	offers := "all"
	if w.hops > 0 {
		offers = fmt.Sprint(w.hops)
	}
	t.Logf("all %d states, in %d steps, at most %d in a row; bound: %d leases of time, %d crashes, %s offers of the token, each message once",
		x.visited, x.steps, x.deepest, w.ticks, w.crashes, offers)
}

package ballot_test

import (
	"bytes"
	"flag"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/policy/strictlock"
	"github.com/wanderd/wanderd/wire"
)

// small is a world of three gates of a kind in ticks of a lease. One member holds the token, the next one has asked for it, and the third may propose. In each
// state anything may happen that can: a message that was ever sent arrives, once; a command ends; one process or host dies; a tick passes. So every
// order and every loss is tried, up to a number of ticks.
type small struct {
	// g are not changed any more: a step is taken by a copy.
	g [3]gate
	plain
}

// plain is what there is besides, and the hashes of the gates.
type plain struct {
	sums    [3]uint64
	disk    [3]policy.Memo
	draws   [3]uint64
	run     [3]smallRun
	now     policy.Time
	crashes int
	newest  wire.Seq
	// sent are all messages that were ever sent, arrived says which have arrived.
	sent    [mostSent]sent
	arrived [mostSent]bool
	count   int
}

// smallRun is a command; its guard has its end and its last words.
type smallRun struct {
	active bool
	until  policy.Time
	token  wire.Ref
}

// sent is a message that was sent, without what is the same in all.
type sent struct {
	kind     wire.Kind
	from, to uint8
	exchange wire.Exchange
	nonce    wire.Nonce
	token    wire.Ref
	load     wire.Load
}

const (
	mostSent = 40
	tick     = policy.Time(time.Second) // a lease
)

// explorer explores a small world.
type explorer struct {
	kind   gateKind
	roster ballot.Roster
	ids    []wire.MemberID
	// drawing is whose draws are drawn from now.
	drawing *uint64
	who     int
	seed    maphash.Seed
	seen    map[uint64]bool
	ticks   policy.Time
	crashes int
	err     error
	path    []string
	full    bool
	elected int
	passed  int
	out     []policy.Effect
	// own are the last messages of the kinds that only one protocol has.
	own []wire.Message
}

// Uint64 draws from the member that takes a step: the same state draws the same.
func (x *explorer) Uint64() uint64 {
	*x.drawing++
	return uint64(x.who+1)<<32 | *x.drawing
}

// newGate returns a gate that waits for Started.
func (x *explorer) newGate(i int) gate {
	w := world{p: plan{
		kind: x.kind, members: 3, lease: time.Second, killAfter: 300 * time.Millisecond, margin: 100 * time.Millisecond, patience: 500 * time.Millisecond,
	}, roster: x.roster, entropy: x}
	if x.kind == lock {
		return w.newGate(i)
	}
	s := w.settings()
	s.Backups = 0 // Copies of the token are not what is explored.
	return strict.New(s, policy.Seat{Gate: 7, Self: x.roster.ID(i), OnDemand: true, Entropy: x})
}

// step gives an event to a gate, and carries out what it asks for. Its saves take no time: what a slow disk does is for the hunt.
func (x *explorer) step(s *small, i int, ev policy.Event) {
	x.drawing, x.who = &s.draws[i], i
	g := copyDeep(reflect.ValueOf(s.g[i])).Interface().(gate)
	s.g[i] = g
	defer func() {
		var h maphash.Hash
		h.SetSeed(x.seed)
		hashDeep(&h, reflect.ValueOf(g).Elem())
		s.sums[i] = h.Sum64()
	}()
	for {
		x.out = g.Step(policy.Instant{Time: s.now, Wall: wall + int64(s.now)}, &ev, x.out[:0])
		saved := false
		for n := range x.out {
			switch e := &x.out[n]; e.Kind {
			case policy.Save:
				s.disk[i], saved = e.State.Memo, true
			case policy.Send:
				x.send(s, &e.Msg)
			case policy.Run:
				x.starts(s, i, e)
			case policy.Extend:
				s.run[i].until = e.Until
			case policy.Took:
				if e.Cause == policy.CauseReceived {
					x.passed++
				} else {
					x.elected++
				}
			case policy.Stop, policy.Entrust, policy.Gave, policy.Announce, policy.Tell, policy.Gone, policy.Proclaim:
			}
		}
		if !saved {
			return
		}
		ev = policy.Event{Kind: policy.Saved}
	}
}

func (x *explorer) send(s *small, m *wire.Message) {
	if m.Kind >= 64 { // The protocols' own are lost from now on.
		x.own = append(x.own, *m)
		return
	}
	to, _ := x.roster.Rank(m.To)
	from, _ := x.roster.Rank(m.From)
	msg := sent{m.Kind, uint8(from), uint8(to), m.Exchange, m.Nonce, m.Token, m.Load}
	if slices.Contains(s.sent[:s.count], msg) {
		return
	}
	if s.count == mostSent {
		x.full = true
		return
	}
	// In one order, however they were sent: worlds in which the same was sent are the same.
	at := s.count
	for ; at > 0 && bytes.Compare(raw(&msg), raw(&s.sent[at-1])) < 0; at-- {
		s.sent[at], s.arrived[at] = s.sent[at-1], s.arrived[at-1]
	}
	s.sent[at], s.arrived[at] = msg, false
	s.count++
}

// raw is the memory of a value.
func raw[T any](v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }

// starts checks a start: "overlap of running commands"; "Seq strictly rising at every start".
func (x *explorer) starts(s *small, i int, e *policy.Effect) {
	for k := range s.run {
		if s.run[k].active {
			x.err = fmt.Errorf("overlap: commands run on %d and on %d", i, k)
		}
	}
	if e.Token.Seq <= s.newest {
		x.err = fmt.Errorf("seq: %d starts under %s after %s", i, seqName(e.Token.Seq), seqName(s.newest))
	}
	s.newest = e.Token.Seq
	s.run[i] = smallRun{active: true, until: e.Until, token: e.Token}
}

// visit explores what may follow a state.
func (x *explorer) visit(s *small) {
	h := maphash.Bytes(x.seed, raw(&s.plain))
	if x.seen[h] {
		return
	}
	x.seen[h] = true
	for i := range s.g {
		for k := range i {
			if a, b := s.g[i].Ballot().Token(), s.g[k].Ballot().Token(); a != nil && b != nil && a.ID == b.ID {
				x.err = fmt.Errorf("holders: %d and %d hold %s and %s", i, k, seqName(a.Seq), seqName(b.Seq))
			}
		}
	}
	x.try(s, "a tick", s.now < x.ticks*tick, x.tick)
	for n := range s.count {
		if !s.arrived[n] {
			x.try(s, "", true, func(s *small) { x.arrive(s, n) })
		}
	}
	for i := range s.g {
		x.try(s, "ends", s.run[i].active, func(s *small) { x.ends(s, i) })
		for _, host := range []bool{false, true} {
			x.try(s, "crash", s.crashes < x.crashes, func(s *small) { x.crash(s, i, host) })
		}
	}
}

// try lets something happen to a copy of the world.
func (x *explorer) try(s *small, what string, can bool, do func(*small)) {
	if !can || x.err != nil {
		return
	}
	next := *s
	x.path = append(x.path, what)
	if do(&next); x.err == nil {
		x.visit(&next)
	}
	if x.err == nil {
		x.path = x.path[:len(x.path)-1]
	}
}

func (x *explorer) arrive(s *small, n int) {
	m := s.sent[n]
	x.path[len(x.path)-1] = fmt.Sprintf("%s from %d to %d, %s", strictlock.Settings{}.Family().Kinds.Of(m.kind).Name, m.from, m.to, seqName(m.token.Seq))
	s.arrived[n] = true
	msg := wire.Message{
		Gate: 7, Kind: m.kind, From: x.ids[m.from], To: x.ids[m.to], Exchange: m.exchange, Nonce: m.nonce, Token: m.token, Load: m.load,
	}
	if s.g[m.to].Expects(&msg) {
		x.step(s, int(m.to), policy.Event{Kind: policy.Received, Msg: msg})
	}
}

// tick lets a tick pass: guards kill what is over, and gates are woken.
func (x *explorer) tick(s *small) {
	s.now += tick
	for i := range s.g {
		if r := &s.run[i]; r.active && s.now >= r.until.Add(-100*time.Millisecond) {
			x.ends(s, i)
		}
	}
	for i := range s.g {
		if at, ok := s.g[i].NextWake(); ok && at <= s.now {
			x.step(s, i, policy.Event{Kind: policy.Woke})
		}
	}
}

func (x *explorer) ends(s *small, i int) {
	s.run[i] = smallRun{}
	x.step(s, i, policy.Event{Kind: policy.Finished})
}

// crash kills a process, whose guard then kills its command and says so, or a host; it is up again at once.
func (x *explorer) crash(s *small, i int, host bool) {
	x.path[len(x.path)-1] = fmt.Sprintf("%d crashes, its host %v", i, host)
	s.crashes++
	r := s.run[i]
	s.run[i] = smallRun{}
	if r.active && !host {
		for to := range s.g {
			if to != i {
				m := wire.Message{Kind: ballot.KindRelease, From: x.ids[i], To: x.ids[to], Token: r.token}
				ballot.SetLoad(&m.Load, x.roster.Hash(), 0, 0)
				x.send(s, &m)
			}
		}
	}
	x.drawing, x.who = &s.draws[i], i
	s.g[i] = x.newGate(i)
	x.step(s, i, policy.Event{Kind: policy.Started, State: policy.State{Memo: s.disk[i]}})
}

// newExplorer returns an explorer, and the world in which it begins: member 0 has won a ballot, has run, and has its lease.
func newExplorer(t *testing.T, kind gateKind, ticks policy.Time, crashes int) (*explorer, *small) {
	x := &explorer{kind: kind, seed: maphash.MakeSeed(), seen: map[uint64]bool{}, crashes: crashes}
	list, ids := names(3)
	x.ids = ids
	var err error
	if x.roster, err = ballot.NewRoster(list, ids); err != nil {
		t.Fatal(err)
	}
	s := new(small)
	for i := range s.g {
		x.drawing, x.who = &s.draws[i], i
		s.g[i] = x.newGate(i)
		x.step(s, i, policy.Event{Kind: policy.Started})
	}
	s.now = 4 * tick
	for i := range s.g {
		x.step(s, i, policy.Event{Kind: policy.PeersChanged, Peers: ids})
	}
	x.step(s, 0, policy.Event{Kind: policy.Wanted})
	x.drawing, x.who = &s.draws[0], 0
	s.g[0].Ballot().Propose(s.now, 0) // The worlds begin here: nobody else has this gate.
	x.step(s, 0, policy.Event{Kind: policy.Woke})
	x.calm(s)
	if !s.run[0].active {
		t.Fatal("member 0 does not run")
	}
	x.ends(s, 0)
	x.calm(s)
	s.sent, s.arrived, s.count = [mostSent]sent{}, [mostSent]bool{}, 0
	x.path, x.own = nil, nil
	x.ticks = s.now/tick + ticks
	return x, s
}

// calm lets everything arrive that is under way.
func (x *explorer) calm(s *small) {
	x.path = []string{""}
	for again := true; again; {
		again = false
		for n := range s.count {
			if !s.arrived[n] {
				x.arrive(s, n)
				again = true
				break
			}
		}
		for x.kind != lock && len(x.own) > 0 {
			m := x.own[0]
			x.own = x.own[1:]
			to, _ := x.roster.Rank(m.To)
			x.step(s, to, policy.Event{Kind: policy.Received, Msg: m})
			again = true
		}
	}
}

// asks lets a member's request come to the holder, which offers the token.
func (x *explorer) asks(s *small, i int) {
	x.own = nil
	x.step(s, i, policy.Event{Kind: policy.Wanted})
	for s.count == 0 && len(x.own) > 0 {
		m := x.own[0]
		x.own = x.own[1:]
		to, _ := x.roster.Rank(m.To)
		x.step(s, to, policy.Event{Kind: policy.Received, Msg: m})
	}
}

// smallWorld is how many leases of time pass in a small world, and how many members crash.
type smallWorld struct {
	kind    gateKind
	ticks   policy.Time
	crashes int
}

var exploreLong = flag.Bool("ballot.long", false, "explore small worlds that take minutes, or much longer, too: all that may happen together, in each gate")

// Three members, one handoff, one ballot, one crash: in the lock all of it together; in a tree, whose world is larger, what a lease of
// time brings, and in rings, too, what a crash does. The largest ones are explored with -ballot.long only.
func TestSmallWorldsExhaustively(t *testing.T) {
	if testing.Short() {
		t.Skip("explores some hundred thousand states")
	}
	worlds := []smallWorld{{lock, 1, 1}}
	for _, kind := range []gateKind{tree, martin, q, d} {
		worlds = append(worlds, smallWorld{kind, 0, 1})
		if *exploreLong || kind == tree {
			worlds = append(worlds, smallWorld{kind, 1, 0})
		}
		if *exploreLong {
			worlds = append(worlds, smallWorld{kind, 1, 1})
		}
	}
	for _, w := range worlds {
		t.Run(fmt.Sprintf("%s, %d leases, %d crashes", gateKinds()[w.kind], w.ticks, w.crashes), func(t *testing.T) {
			x, s := newExplorer(t, w.kind, w.ticks, w.crashes)
			holder := 0 // or where the token's recounting tour has ended
			for s.g[holder].Ballot().Token() == nil {
				holder++
			}
			asks, proposes := (holder+1)%3, (holder+2)%3
			x.asks(s, asks)
			x.step(s, proposes, policy.Event{Kind: policy.Wanted})
			x.drawing, x.who = &s.draws[proposes], proposes
			s.g[proposes].Ballot().Propose(s.now, 0)
			x.elected, x.passed = 0, 0
			x.visit(s)
			switch {
			case x.err != nil:
				t.Fatalf("%v, after:\n%s", x.err, strings.Join(x.path, "\n"))
			case x.full || x.elected == 0 && w.ticks > 0 || x.passed == 0:
				t.Errorf("%d elections, %d handoffs; too many messages: %v", x.elected, x.passed, x.full)
			}
			t.Logf("%d states", len(x.seen))
		})
	}
}

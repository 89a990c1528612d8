package ballot_test

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/policytest"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/wire"
)

// small is a world of three gates of a kind, in ticks of a lease. One member holds the token, the next one has asked
// for it, and the third may propose. In each state anything possible may happen: a message that was ever sent arrives,
// once; a command ends; one process or host dies; a tick passes. So every order and every loss is tried, up to a number
// of ticks.
type small struct {
	gates [3]stepped
	disk  [3]policy.Memo
	draws [3]uint64
	run   [3]smallRun
	now   policy.Time
	// crashes is how many members have crashed; hops is how many offers of a token have arrived, if they are counted.
	crashes, hops int
	newest        wire.Seq
	// pending are the messages that may still arrive; arrived are those that have arrived and that a gate may send
	// again. Both belong to this state alone.
	pending, arrived []sent
}

// stepped is a gate as its last step has left it. It is never changed afterwards: the next step is taken by a copy.
type stepped struct {
	gate
	form form
}

// smallRun is a command; its guard has its end and its pre-signed releases.
type smallRun struct {
	active bool
	until  policy.Time
	token  wire.Ref
}

// sent is a message that was sent, without what is the same in all messages.
type sent struct {
	kind     wire.Kind
	from, to uint8
	exchange wire.Exchange
	nonce    wire.Nonce
	token    wire.Ref
	load     wire.Load
}

const (
	tick = policy.Time(time.Second) // a lease
	// perLife is more than a member draws in a life.
	perLife = 100
)

// clone returns a copy of a world.
func (s *small) clone() *small {
	next := *s
	next.pending, next.arrived = slices.Clone(s.pending), slices.Clone(s.arrived)
	return &next
}

// Uint64 draws for the member that takes a step: a number that it has not drawn before. Pauses, which are drawn too,
// are all the shortest: between ticks they mean nothing. So is the number of a ring's tour, which only requests carry.
func (x *explorer) Uint64() uint64 {
	*x.drawing++
	return (*x.drawing*4 + uint64(x.who)) * uint64(8*time.Second) << 20 & (1<<63 - 1)
}

// newGate returns a gate that waits for Started.
func (x *explorer) newGate(i int) gate {
	w := world{p: plan{
		kind: x.kind, members: 3, lease: time.Second, killAfter: 300 * time.Millisecond, margin: 100 * time.Millisecond,
		patience: 500 * time.Millisecond,
	}, roster: x.roster, entropy: x}
	if x.kind == lock {
		return w.newGate(i)
	}
	s := w.settings(0)
	s.Backups = 0 // Copies of the token are not explored.
	return strict.New(s, policy.Env{Gate: 7, Self: x.roster.ID(i), OnDemand: true, Entropy: x})
}

// step gives an event to a gate, and carries out its effects. Saves take no time: the hunt tries slow disks.
func (x *explorer) step(s *small, i int, ev policy.Event) {
	x.drawing, x.who = &s.draws[i], i
	g := x.copied(s, i)
	for saved := true; saved; ev = (policy.Event{Kind: policy.Saved}) {
		x.out = g.Step(policy.Instant{Time: s.now, Wall: wall + int64(s.now)}, &ev, x.out[:0])
		saved = false
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
			case policy.Stop, policy.PreSign, policy.Gave, policy.Announce, policy.Tell, policy.Gone, policy.Proclaim:
			}
		}
	}
	x.put(s, i, g)
}

// copied returns a copy of a gate, and put puts it into its place.
func (x *explorer) copied(s *small, i int) gate {
	return x.layouts.copy(reflect.ValueOf(s.gates[i].gate)).Interface().(gate)
}

func (x *explorer) put(s *small, i int, g gate) {
	s.gates[i] = stepped{g, x.layouts.form(reflect.ValueOf(g))}
}

func (x *explorer) send(s *small, m *wire.Message) {
	if m.Kind >= 64 { // The protocols' own are lost while a world is explored.
		if x.States == 0 {
			x.own = append(x.own, *m)
		}
		return
	}
	to, _ := x.roster.Rank(m.To)
	from, _ := x.roster.Rank(m.From)
	msg := sent{m.Kind, uint8(from), uint8(to), m.Exchange, m.Nonce, m.Token, m.Load}
	if ballot.Owns(m.Kind) {
		ballot.WithoutClock(&msg.load)
	}
	if !slices.Contains(s.pending, msg) && !slices.Contains(s.arrived, msg) {
		s.pending = append(s.pending, msg)
	}
}

func (x *explorer) message(m *sent) wire.Message {
	return wire.Message{
		Gate: 7, Kind: m.kind, From: x.ids[m.from], To: x.ids[m.to], Exchange: m.exchange, Nonce: m.nonce,
		Token: m.token, Load: m.load,
	}
}

// starts checks a start: "overlap of running commands"; "Seq strictly rising at every start".
func (x *explorer) starts(s *small, i int, e *policy.Effect) {
	for k := range s.run {
		if s.run[k].active {
			x.broken = fmt.Errorf("overlap: commands run on %d and on %d", i, k)
		}
	}
	if e.Token.Seq <= s.newest {
		x.broken = fmt.Errorf("seq: %d starts under %s after %s", i, seqName(e.Token.Seq), seqName(s.newest))
	}
	s.newest = e.Token.Seq
	s.run[i] = smallRun{active: true, until: e.Until, token: e.Token}
}

// arrive lets a message arrive.
func (x *explorer) arrive(s *small, n int) {
	m := s.pending[n]
	s.pending = slices.Delete(s.pending, n, n+1)
	s.arrived = append(s.arrived, m)
	if msg := x.message(&m); s.gates[m.to].Expects(&msg) {
		if m.kind == handoff.KindToken && x.hops > 0 {
			s.hops++
		}
		x.step(s, int(m.to), policy.Event{Kind: policy.Received, Msg: msg})
	}
}

var smallKinds = policytest.Settings{}.Descriptor().Kinds

// describe describes in words what arrives.
func (m *sent) describe() string {
	return fmt.Sprintf("%s from %d to %d, %s", smallKinds.Of(m.kind).Name, m.from, m.to, seqName(m.token.Seq))
}

// tick lets a tick pass: guards kill commands whose time is over, and gates are woken.
func (x *explorer) tick(s *small) {
	s.now += tick
	for i := range s.gates {
		if r := &s.run[i]; r.active && s.now >= r.until.Add(-100*time.Millisecond) {
			x.ends(s, i)
		}
	}
	for i := range s.gates {
		if at, ok := s.gates[i].NextWake(); ok && at <= s.now {
			x.step(s, i, policy.Event{Kind: policy.Woke})
		}
	}
}

func (x *explorer) ends(s *small, i int) {
	s.run[i] = smallRun{}
	x.step(s, i, policy.Event{Kind: policy.Finished})
}

// crash kills a process, whose guard then kills its command and sends its releases, or a host; it is up again at once.
func (x *explorer) crash(s *small, i int, host bool) {
	s.crashes++
	r := s.run[i]
	s.run[i] = smallRun{}
	if r.active && !host {
		for to := range s.gates {
			if to != i {
				m := wire.Message{Kind: ballot.KindRelease, From: x.ids[i], To: x.ids[to], Token: r.token}
				ballot.SetLoad(&m.Load, x.roster.Hash(), 0, 0)
				x.send(s, &m)
			}
		}
	}
	x.start(s, i)
}

// start starts a gate with what is on its disk.
func (x *explorer) start(s *small, i int) {
	s.draws[i] = perLife * uint64(s.crashes) // With the earlier draws, equal states would look different.
	x.drawing, x.who = &s.draws[i], i
	s.gates[i].gate = x.newGate(i)
	x.step(s, i, policy.Event{Kind: policy.Started, State: policy.State{Memo: s.disk[i]}})
}

// propose makes a member propose now.
func (x *explorer) propose(s *small, i int) {
	g := x.copied(s, i)
	g.Ballot().Propose(s.now, 0)
	x.put(s, i, g)
}

// newExplorer returns an explorer, and the world in which it begins: member 0 has won a ballot, has run, and has its
// lease; in a ring, the token has ended its first recounting tour.
func newExplorer(w smallWorld) (*explorer, *small, error) {
	x := &explorer{
		smallWorld: w, seen: map[uint64][]mail{}, met: map[uint64]bool{}, numbers: map[sent]uint32{},
		layouts: layouts{},
	}
	x.Visited, x.Judge, x.Branch = x.visited, x.judge, x.branch
	list, ids := names(3)
	x.ids = ids
	var err error
	if x.roster, err = ballot.NewRoster(list, ids); err != nil {
		return nil, nil, err
	}
	s := new(small)
	for i := range s.gates {
		x.start(s, i)
	}
	s.now = 4 * tick
	for i := range s.gates {
		x.step(s, i, policy.Event{Kind: policy.PeersChanged, Peers: ids})
	}
	x.step(s, 0, policy.Event{Kind: policy.Wanted})
	x.propose(s, 0) // The worlds begin here: no other member has this gate.
	x.step(s, 0, policy.Event{Kind: policy.Woke})
	x.calm(s)
	if !s.run[0].active {
		return nil, nil, fmt.Errorf("member 0 does not run")
	}
	x.ends(s, 0)
	x.calm(s)
	s.arrived, s.hops, x.own = nil, 0, nil
	x.end = s.now + x.ticks*tick
	return x, s, nil
}

// calm lets everything arrive that is under way, except the offers of a token that always moves.
func (x *explorer) calm(s *small) {
	for again := true; again; {
		again = false
		for n := range s.pending {
			if x.kind != always || s.pending[n].kind != handoff.KindToken {
				x.arrive(s, n)
				again = true
				break
			}
		}
		for x.kind != lock && len(x.own) > 0 {
			x.deliverOwn(s)
			again = true
		}
	}
}

// deliverOwn lets the first of the protocols' own messages arrive.
func (x *explorer) deliverOwn(s *small) {
	m := x.own[0]
	x.own = x.own[1:]
	to, _ := x.roster.Rank(m.To)
	x.step(s, to, policy.Event{Kind: policy.Received, Msg: m})
}

// contend lets the member after the holder ask for the token, which the holder offers, and the third one propose.
func (x *explorer) contend(s *small) {
	holder := 0 // or where the token's recounting tour has ended
	for s.gates[holder].Ballot().Token() == nil {
		holder++
	}
	asks, proposes := (holder+1)%3, (holder+2)%3
	x.own = nil
	x.step(s, asks, policy.Event{Kind: policy.Wanted})
	for len(s.pending) == 0 && len(x.own) > 0 {
		x.deliverOwn(s)
	}
	x.step(s, proposes, policy.Event{Kind: policy.Wanted})
	x.propose(s, proposes)
	x.elected, x.passed = 0, 0
}

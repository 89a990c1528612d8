package ballot_test

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/ballot"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/sim/explore"
	"github.com/wanderd/wanderd/wire"
)

// explorer explores a small world.
type explorer struct {
	explore.Search[small]
	smallWorld
	end    policy.Time
	roster ballot.Roster
	ids    []wire.MemberID
	// drawing is the member that draws from now on.
	drawing *uint64
	who     int
	// seen has, for each state without its messages, the messages with which it was visited.
	seen map[uint64][]mail
	// numbers are the numbers of all messages that there were; drawn numbers are treated as in a form.
	numbers map[sent]uint32
	layouts layouts
	// broken is the rule that the last step has broken.
	broken          error
	elected, passed int
	out             []policy.Effect
	// own has the last messages of the kinds that only one protocol has.
	own []wire.Message
	// naive is true if nothing is left out: each state is recognised by everything in it. met are the situations that
	// occurred.
	naive bool
	met   map[uint64]bool
}

// isDead reports whether a message can have no effect any more. That is so for an answer to a question or an offer that
// is over, and for a Token that has come, unless its addressee forgets that. While a token is here, a gate does not
// look at others.
func (x *explorer) isDead(s *small, m *sent) bool {
	to := &s.gates[m.to]
	msg := x.message(m)
	if to.Expects(&msg) {
		return false
	}
	if m.kind == handoff.KindToken && s.crashes < x.crashes {
		return false
	}
	return m.kind != handoff.KindToken && m.kind != handoff.KindCommit || !s.run[m.to].active && to.Ballot().
		Token() == nil
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
	return slices.Contains(s.gates[m.from].form.drawn, id)
}

// forget forgets the messages that can have no effect.
func (x *explorer) forget(s *small) {
	s.pending = slices.DeleteFunc(s.pending, func(m sent) bool { return x.isDead(s, &m) })
	s.arrived = slices.DeleteFunc(s.arrived, func(m sent) bool { return !s.comesAgain(&m) })
}

// visited forgets what means nothing any more, and reports whether a state need not be explored.
func (x *explorer) visited(s *small, _ int) (covered, known bool) {
	if x.broken != nil {
		return false, false
	}
	if !x.naive {
		x.forget(s)
	}
	return !x.isNew(s), false
}

// judge checks that no two members hold the same token, besides the rule that a step has broken.
func (x *explorer) judge(s *small) error {
	h := newHash()
	h.situation(s)
	x.met[h.Sum64()] = true
	for i := range s.gates {
		for k := range i {
			if a, b := s.gates[i].Ballot().Token(), s.gates[k].Ballot().Token(); a != nil && b != nil && a.ID == b.ID {
				return fmt.Errorf("holders: %d and %d hold %s and %s", i, k, seqName(a.Seq), seqName(b.Seq))
			}
		}
	}
	return x.broken
}

// branch calls reach with every state that can come next.
func (x *explorer) branch(s *small, reach func(*small, string)) {
	try := func(step string, do func(*small)) {
		next := s.clone()
		do(next)
		reach(next, step)
	}
	if s.now < x.end {
		try("a tick", x.tick)
	}
	for n := range s.pending {
		m := &s.pending[n]
		msg := x.message(m)
		if !x.naive && !s.gates[m.to].Expects(&msg) || x.hops > 0 && s.hops >= x.hops && m.kind == handoff.KindToken {
			continue
		}
		try(m.describe(), func(next *small) { x.arrive(next, n) })
	}
	for i := range s.gates {
		if s.run[i].active {
			try(fmt.Sprintf("the command on %d ends", i), func(s *small) { x.ends(s, i) })
		}
		for _, host := range []bool{false, true} {
			if s.crashes < x.crashes {
				try(fmt.Sprintf("%d crashes, its host %v", i, host), func(s *small) { x.crash(s, i, host) })
			}
		}
	}
}

// smallWorld is a world with the bounds of what happens in it: how many leases of time pass, how many members crash,
// and how many offers of the token arrive (zero: all). A message arrives once.
type smallWorld struct {
	kind    gateKind
	ticks   policy.Time
	crashes int
	hops    int
}

func (w smallWorld) String() string { return fmt.Sprintf("%d leases, %d crashes", w.ticks, w.crashes) }

// smallWorlds are worlds of three members of a kind, with one handoff. They explore what a crash does, what a lease of
// time does (a ballot follows), and what both do.
func smallWorlds(kind gateKind, long bool) []smallWorld {
	hops := 0
	if kind == always { // Its token goes round for ever.
		hops = 3
	}
	all := []smallWorld{{kind, 0, 1, hops}, {kind, 1, 0, hops}, {kind, 1, 1, hops}}
	if !long && kind != lock && kind != tree {
		return all[:1]
	}
	return all
}

var exploreLong = flag.Bool("ballot.long", false,
	"explore the small worlds of rings, too, in which time passes: they take minutes")

// Three members, one handoff, one ballot, one crash, in each gate. Rings have twenty times as many states as the
// others, because their token moves on: what time does in a ring is explored only with -ballot.long.
func TestSmallWorldsExhaustively(t *testing.T) {
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
	x, err := w.explored(t, false)
	switch {
	case err != nil:
		t.Fatal(err)
	case x.elected == 0 && w.ticks > 0 || x.passed == 0:
		t.Errorf("%d elections, %d handoffs", x.elected, x.passed)
	}
	offers := "all"
	if w.hops > 0 {
		offers = fmt.Sprint(w.hops)
	}
	t.Logf("all %d states, in %d steps, at most %d in a row; bound: %d leases of time, %d crashes, %s offers of the "+
		"token, each message once",
		x.States, x.Transitions, x.Deepest, w.ticks, w.crashes, offers)
}

// explored returns an explorer that has explored the world, and the rule that is broken in it.
func (w smallWorld) explored(t *testing.T, naive bool) (*explorer, error) {
	t.Helper()
	x, s, err := newExplorer(w)
	if err != nil {
		t.Fatal(err)
	}
	x.contend(s)
	x.naive = naive
	return x, x.From(s)
}

// What is left out would lead to no other situation: a naive explorer, which leaves nothing out, meets the same ones.
func TestNothingIsLeftOutOfASmallWorld(t *testing.T) {
	worlds := []smallWorld{{lock, 0, 1, 0}, {lock, 1, 0, 0}, {tree, 1, 0, 0}}
	if *exploreLong {
		worlds = append(worlds, smallWorld{d, 0, 1, 0}, smallWorld{lock, 1, 1, 0}, smallWorld{tree, 1, 1, 0})
	}
	for _, w := range worlds {
		t.Run(gateKinds()[w.kind]+", "+w.String(), func(t *testing.T) {
			t.Parallel()
			x, err := w.explored(t, false)
			all, allErr := w.explored(t, true)
			if err != nil || allErr != nil || !maps.Equal(x.met, all.met) {
				t.Errorf("%d situations, and %d if nothing is left out; %v, %v", len(x.met), len(all.met), err, allErr)
			}
			t.Logf("%d situations in %d states, of %d", len(x.met), x.States, all.States)
		})
	}
}

package sim

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// Small worlds are explored to the end: every order of everything that can happen, up to a number of things. A member offers
// the token that it holds; from there on, at each step, one of these happens:
//
//   - any message that was ever sent is delivered, be it for the first time or again. What is never delivered was lost; so
//     every loss, duplicate, replay, delay and reordering there can be is one of the orders.
//   - any member is woken when its deadline comes. Each has a clock of its own, which only its wake-ups move: members do not
//     agree on how much time has passed, and any timeout may come before or after any message.
//   - any run ends.
//   - a member crashes before any effect of its step, and starts again with what it had saved. At most so many times.
//
// In every state, no two members hold the same token, and no run has started that was not saved.
func TestSmallWorldsAreExploredExhaustively(t *testing.T) {
	for _, w := range []struct {
		members, crashes int
		depth            int8
		atLeast          int
	}{
		{members: 2, crashes: 0, depth: 10, atLeast: 1000},
		{members: 2, crashes: 1, depth: 8, atLeast: 1000},
		{members: 3, crashes: 0, depth: 9, atLeast: 1000},
		{members: 3, crashes: 1, depth: 7, atLeast: 1000},
	} {
		t.Run(fmt.Sprintf("%d members, %d steps, %d crashes", w.members, w.depth, w.crashes), func(t *testing.T) {
			began := time.Now()
			e := newExplorer(w.members)
			first := e.begin(w.crashes)
			e.explore(t, &first, w.depth)
			t.Logf("%d states, %d with a token held, %d without, %d transitions; %v",
				len(e.seen), e.held, len(e.seen)-e.held, e.transitions, time.Since(began).Round(time.Millisecond))
			if len(e.seen) < w.atLeast {
				t.Errorf("only %d states", len(e.seen))
			}
		})
	}
}

// maxSmall is the most members of a small world.
const maxSmall = 3

// small is a world in one state. It is a value: to branch is to copy.
type small struct {
	machines [maxSmall]wander.Machine
	disks    [maxSmall]policy.State
	clocks   [maxSmall]policy.Time
	running  [maxSmall]bool
	// sent are all messages ever sent, each once, in an order that does not depend on the path.
	sent    []wire.Message
	drawn   uint64
	crashes int
}

// explorer explores one world. The machines draw from it, so that what they draw is part of the state.
type explorer struct {
	ids         []wire.MemberID
	laps        wander.Laps
	drawn       uint64
	seed        maphash.Seed
	seen        map[uint64]int8
	held        int
	transitions int
	effects     []policy.Effect
}

func newExplorer(members int) *explorer {
	e := &explorer{seed: maphash.MakeSeed(), seen: map[uint64]int8{}}
	for i := range members {
		e.ids = append(e.ids, identityOf(InOrder, 0, i))
	}
	return e
}

// Uint64 is the machines' entropy: never the same twice on one path.
func (e *explorer) Uint64() uint64 {
	e.drawn++
	return mix(e.drawn)
}

// begin is the first state: member 0 has the token and has just finished its run.
func (e *explorer) begin(crashes int) small {
	var w small
	w.crashes = crashes
	for i := range e.ids {
		e.launch(&w, i)
	}
	e.wake(&w, 0)
	return e.finish(w, 0)
}

func (e *explorer) launch(w *small, i int) {
	w.machines[i] = *wander.New(wander.Config{
		Gate: 1, Self: e.ids[i], Skip: time.Second, Op: time.Second, MinInterval: 10 * time.Second, WaitAlone: true,
		Laps: &e.laps, Entropy: e,
	})
	w.running[i] = false
	e.step(w, i, &policy.Event{Kind: policy.Started, State: w.disks[i]}, -1)
	e.step(w, i, &policy.Event{Kind: policy.PeersChanged, Peers: e.ids, TokenKnown: w.drawn > 0}, -1)
}

func (e *explorer) wake(w *small, i int) {
	if at, ok := w.machines[i].NextWake(); ok {
		w.clocks[i] = max(w.clocks[i], at)
		e.step(w, i, &policy.Event{Kind: policy.Woke}, -1)
	}
}

func (e *explorer) finish(w small, i int) small {
	w.running[i] = false
	e.step(&w, i, &policy.Event{Kind: policy.Finished}, -1)
	return w
}

// explore visits every state that can be reached from w in so many steps. A state that is reached again with fewer steps
// left than before leads nowhere new.
func (e *explorer) explore(t *testing.T, w *small, steps int8) {
	t.Helper()
	if steps == 0 {
		return
	}
	e.branch(w, func(next *small, what string) {
		e.transitions++
		key := e.key(next)
		left, known := e.seen[key]
		if known && left >= steps-1 {
			return
		}
		e.seen[key] = steps - 1
		if !known {
			e.check(t, next, what)
		}
		e.explore(t, next, steps-1)
	})
}

// branch calls reach with every state that can come next.
func (e *explorer) branch(w *small, reach func(*small, string)) {
	for i := range e.ids {
		if at, ok := w.machines[i].NextWake(); ok {
			e.happen(w, i, at, &policy.Event{Kind: policy.Woke}, reach)
		}
		if w.running[i] {
			e.happen(w, i, w.clocks[i], &policy.Event{Kind: policy.Finished}, reach)
		}
	}
	for _, m := range w.sent {
		to := IndexOf(m.To)
		e.happen(w, to, w.clocks[to], &policy.Event{Kind: policy.Received, Msg: m}, reach)
	}
}

// happen lets one thing happen to a member, in full and, if it may crash, up to every one of its effects.
func (e *explorer) happen(w *small, i int, at policy.Time, ev *policy.Event, reach func(*small, string)) {
	after := w.branch()
	after.clocks[i] = max(w.clocks[i], at)
	if ev.Kind == policy.Finished {
		after.running[i] = false
	}
	n := e.step(&after, i, ev, -1)
	reach(&after, MemberName(i)+" "+ev.Kind.String())
	if w.crashes == 0 {
		return
	}
	for k := range n {
		crashed := w.branch()
		crashed.crashes--
		crashed.clocks[i] = max(w.clocks[i], at)
		e.step(&crashed, i, ev, k)
		e.launch(&crashed, i)
		reach(&crashed, MemberName(i)+" "+ev.Kind.String()+", crashing on the way")
	}
}

// branch copies a world; only sent is shared by a plain copy.
func (w *small) branch() small {
	c := *w
	c.sent = slices.Clip(w.sent)
	return c
}

// step gives a member an event and carries out its effects, or only the first so many if upTo is not negative. It returns
// how many there were.
func (e *explorer) step(w *small, i int, ev *policy.Event, upTo int) int {
	e.drawn = w.drawn
	now := policy.Instant{Time: w.clocks[i], Wall: epoch + int64(w.clocks[i])}
	e.effects = w.machines[i].Step(now, ev, e.effects[:0])
	w.drawn = e.drawn
	effects := e.effects
	if upTo >= 0 {
		effects = effects[:upTo]
	}
	for k := range effects {
		switch f := &effects[k]; f.Kind {
		case policy.Save:
			w.disks[i] = f.State
		case policy.Send:
			w.send(&f.Msg)
		case policy.Run:
			w.running[i] = true
			if w.disks[i].LastRun != w.clocks[i] || w.disks[i].LastToken != f.Token.ID {
				panic("a run that was not saved: " + w.machines[i].String())
			}
		case policy.Stop, policy.Announce, policy.Tell:
		}
	}
	return len(e.effects)
}

// send adds a message to those that were sent, in the order of their bytes.
func (w *small) send(m *wire.Message) {
	place, found := slices.BinarySearchFunc(w.sent, m, func(a wire.Message, b *wire.Message) int {
		var x, y [2 * wire.ContentSize]byte
		return bytes.Compare(a.Append(x[:0]), b.Append(y[:0]))
	})
	if !found {
		w.sent = slices.Insert(w.sent, place, *m)
	}
}

// check holds the property of the handoff.
func (e *explorer) check(t *testing.T, w *small, what string) {
	t.Helper()
	holders := map[wire.TokenID]int{}
	for i := range e.ids {
		if s := w.machines[i].Status(w.clocks[i]); s.Holding {
			if other, ok := holders[s.Token.ID]; ok {
				t.Fatalf("%s and %s both hold %v after %s:\n%s", MemberName(other), MemberName(i), s.Token.ID, what, e.describe(w))
			}
			holders[s.Token.ID] = i
		}
	}
	if len(holders) > 0 {
		e.held++
	}
}

// key is the same only for worlds in the same state, but for collisions of the hash. Machines are compared byte by byte: they
// are plain values, see TestAMachineIsAPlainValue.
func (e *explorer) key(w *small) uint64 {
	var h maphash.Hash
	h.SetSeed(e.seed)
	for i := range e.ids {
		h.Write(unsafe.Slice((*byte)(unsafe.Pointer(&w.machines[i])), unsafe.Sizeof(w.machines[i])))
		maphash.WriteComparable(&h, w.disks[i])
		maphash.WriteComparable(&h, w.clocks[i])
		maphash.WriteComparable(&h, w.running[i])
	}
	for i := range w.sent {
		maphash.WriteComparable(&h, w.sent[i])
	}
	maphash.WriteComparable(&h, w.drawn)
	maphash.WriteComparable(&h, w.crashes)
	return h.Sum64()
}

// A machine refers to nothing that a copy of it could change: only to the source of entropy, to the list of peers, and to what
// is remembered of laps, which changes nothing but time.
func TestAMachineIsAPlainValue(t *testing.T) {
	allowed := map[string]bool{"cfg.Entropy": true, "handoff.cfg.Entropy": true, "guardian.cfg.Entropy": true, "peers.ids": true, "cfg.Laps": true}
	found := 0
	var walk func(path string, typ reflect.Type)
	walk = func(path string, typ reflect.Type) {
		switch kind := typ.Kind(); {
		case kind == reflect.Struct:
			for f := range typ.Fields() {
				walk(strings.TrimPrefix(path+"."+f.Name, "."), f.Type)
			}
		case kind == reflect.Array:
			walk(path, typ.Elem())
		case kind < reflect.Bool || kind > reflect.Complex128:
			found++
			if !allowed[path] {
				t.Errorf("wander.Machine refers to something by %s, a %v", path, typ)
			}
		}
	}
	walk("", reflect.TypeFor[wander.Machine]())
	if found != len(allowed) {
		t.Errorf("%d references, and %d are known of: this test looks at the wrong things", found, len(allowed))
	}
}

func (e *explorer) describe(w *small) string {
	var b strings.Builder
	trace := NewTrace(&b)
	for i := range e.ids {
		fmt.Fprintf(&b, "%s at %s: %s\n", MemberName(i), clock(w.clocks[i]), &w.machines[i])
	}
	for i := range w.sent {
		fmt.Fprintln(&b, trace.route(&w.sent[i]))
	}
	return b.String()
}

package wander

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/guardian"
	"github.com/wanderd/wanderd/policy/handoff"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
	"github.com/wanderd/wanderd/sim/explore"
	"github.com/wanderd/wanderd/sim/trace"
	"github.com/wanderd/wanderd/wire"
)

// Small worlds are explored to the end: every order of everything that can happen, up to a number of events. A member
// offers the token that it holds, or has just passed it on. From there on, at each step, one of these happens:
//
//   - any message that was ever sent is delivered, for the first time or again. A message that is never delivered was
//     lost; so every possible loss, duplicate, replay, delay and reordering is one of the orders.
//   - any member is woken when its deadline comes. Each has a clock of its own, which only its wake-ups move: members
//     do not agree on how much time has passed, and any timeout may come before or after any message.
//   - any run ends.
//   - a member crashes before any effect of its step, and starts again with what it had saved. The world
//     bounds how often.
//   - where disks are slow, a save that is under way ends, or fails; when a member crashes, such a save is on the disk
//     or not. Where disks are not slow, a save ends at the moment at which it was requested.
//   - a member that was stopped for longer than guardians are patient goes on. The world bounds how often.
//
// In every state, no two members hold the same copy of a token, no run has started that was not saved, and no member
// has revived a token unless it has asked every member that may know of the token's holder, or the holder has told it.
func TestSmallWorldsAreExploredExhaustively(t *testing.T) {
	for _, w := range []struct {
		name                             string
		members, backups, crashes, stops int
		// passed is true if the first handoff is over.
		passed bool
		// slow is true if the disks are slow.
		slow    bool
		depth   int
		leadsTo policy.Note
		// large is true if there are many states: one step less is taken then, but at night. sooner is what that leads
		// to, if it is something else.
		large  bool
		sooner policy.Note
	}{
		{name: "2 members", members: 2, depth: 10, leadsTo: handoff.NotePassed},
		{name: "2 members, one crashes", members: 2, crashes: 1, depth: 8, leadsTo: handoff.NotePassed},
		{name: "3 members", members: 3, depth: 9, leadsTo: handoff.NoteNoAck, large: true},
		{name: "3 members, one crashes", members: 3, crashes: 1, depth: 7, leadsTo: handoff.NotePassed, large: true},
		{name: "holder and guardian", members: 2, backups: 1, depth: 8, leadsTo: wander.NoteRevived},
		{
			name: "holder and guardian, later", members: 2, backups: 1, depth: 9, passed: true,
			leadsTo: wander.NoteOvertaken, large: true, sooner: wander.NoteRevived,
		},
		{
			name: "holder and guardian, one stops", members: 2, backups: 1, stops: 1, depth: 7, passed: true,
			leadsTo: guardian.NoteDoubting,
		},
		{
			name: "holder and guardian, one crashes", members: 2, backups: 1, crashes: 1, depth: 7, passed: true,
			leadsTo: wander.NoteOutdated, large: true,
		},
		{name: "2 members, slow disks", members: 2, slow: true, depth: 9, leadsTo: wander.NoteDenied, large: true},
		{
			name: "2 members, slow disks, one crashes", members: 2, slow: true, crashes: 1, depth: 7,
			leadsTo: wander.NoteRan,
		},
		{
			name: "holder and guardian, slow disks", members: 2, backups: 1, slow: true, depth: 9, passed: true,
			leadsTo: wander.NoteRevived, large: true,
		},
		{
			name: "holder and two guardians", members: 3, backups: 2, depth: 7, passed: true,
			leadsTo: wander.NoteOvertaken, large: true,
		},
	} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			if w.large {
				deep.Only(t, "explores tens of thousands of states")
			}
			if w.large && !deep.Night() {
				w.depth--
				w.leadsTo = cmp.Or(w.sooner, w.leadsTo)
			}
			began := time.Now()
			e := newExplorer(w.members, w.backups)
			e.Depth = w.depth
			first := e.begin(w.crashes, w.stops)
			if w.passed {
				e.pass(&first)
			}
			e.slow = w.slow
			if err := e.From(&first); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d steps: %d states, %d with a token held, %d with two copies, %d transitions; %v",
				w.depth, e.States, e.held, e.copied, e.Transitions, time.Since(began).Round(time.Millisecond))
			if e.States < 1000 || e.told[w.leadsTo] == 0 {
				t.Errorf("%d states, and none is reached by %v: %v", e.States, w.leadsTo, e.told)
			}
		})
	}
}

// maxSmall is the largest number of members of a small world.
const maxSmall = 3

// small is a world in one state. It is a value: to branch is to copy.
type small struct {
	machines [maxSmall]wander.Machine
	disks    [maxSmall]policy.State
	clocks   [maxSmall]policy.Time
	running  [maxSmall]bool
	saves    [maxSmall]smallSave
	// sent are all messages ever sent, each once, in an order that does not depend on the path.
	sent           []wire.Message
	drawn          uint64
	crashes, stops int
	copies         check.Copies
	// asked are the members that a member has asked since it suspected the holder, one bit for each. mayKnow are the
	// guardians of the token according to its questions.
	asked, mayKnow [maxSmall]uint8
}

// smallSave is what goes on between a member and a slow disk: the state that is being written, and the one to write
// next.
type smallSave struct {
	busy, queued  bool
	writing, next policy.State
}

// explorer explores one world. The machines draw from it, so that what they draw is part of the state.
type explorer struct {
	explore.Search[small]
	ids  []wire.MemberID
	slow bool
	// settings are the same for all machines, because a state in which a machine has other settings would be another
	// state.
	settings wander.Settings
	laps     wander.Laps
	drawn    uint64
	seed     maphash.Seed
	// held counts the states in which a member holds a token. copied counts those in which there are two copies of one.
	held, copied int
	// told counts the notes.
	told    map[policy.Note]int
	effects []policy.Effect
}

func newExplorer(members, backups int) *explorer {
	e := &explorer{
		settings: wander.Settings{Skip: time.Second, Op: time.Second, MinInterval: 10 * time.Second, Backups: backups},
		seed:     maphash.MakeSeed(), told: map[policy.Note]int{},
	}
	for i := range members {
		e.ids = append(e.ids, sim.Identity(sim.InOrder, 0, i))
	}
	e.Visited, e.Branch, e.Judge = explore.ByKey(e.key), e.branch, e.judge
	return e
}

// Uint64 is the machines' entropy. It never returns the same number twice on one path.
func (e *explorer) Uint64() uint64 {
	e.drawn++
	return sim.Mix(e.drawn)
}

// begin returns the first state: member 0 has the token and has just finished its run.
func (e *explorer) begin(crashes, stops int) small {
	w := small{crashes: crashes, stops: stops, copies: check.NewCopies()}
	for i := range e.ids {
		e.launch(&w, i)
	}
	e.wake(&w, 0)
	return e.finish(w, 0)
}

// pass lets the first handoff end: member 1 holds the token.
func (e *explorer) pass(w *small) {
	for _, kind := range []wire.Kind{handoff.KindToken, handoff.KindAck, handoff.KindCommit} {
		m := w.sent[slices.IndexFunc(w.sent, func(m wire.Message) bool { return m.Kind == kind })]
		e.step(w, sim.IndexOf(m.To), &policy.Event{Kind: policy.Received, Msg: m}, -1)
	}
}

func (e *explorer) launch(w *small, i int) {
	w.machines[i] = *wander.New(wander.Config{
		Env: policy.Env{Gate: 1, Self: e.ids[i], WaitsAlone: true, Entropy: e}, Settings: &e.settings, Laps: &e.laps,
	})
	w.running[i], w.asked[i], w.mayKnow[i], w.saves[i] = false, 0, 0, smallSave{}
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

// branch calls reach with every state that can come next.
func (e *explorer) branch(w *small, reach func(*small, string)) {
	for i := range e.ids {
		if at, ok := w.machines[i].NextWake(); ok {
			e.happen(w, i, at, &policy.Event{Kind: policy.Woke}, reach)
			if w.stops > 0 {
				stopped := *w
				stopped.stops--
				e.happen(&stopped, i, at.Add(2*time.Second), &policy.Event{Kind: policy.Woke}, reach)
			}
		}
		if w.running[i] {
			e.happen(w, i, w.clocks[i], &policy.Event{Kind: policy.Finished}, reach)
		}
	}
	e.branchDisks(w, reach)
	for _, m := range w.sent {
		to := sim.IndexOf(m.To)
		e.happen(w, to, w.clocks[to], &policy.Event{Kind: policy.Received, Msg: m}, reach)
	}
}

// branchDisks lets each save that is under way end, and fail.
func (e *explorer) branchDisks(w *small, reach func(*small, string)) {
	for i := range e.ids {
		for _, fails := range []bool{false, true} {
			if !w.saves[i].busy {
				break
			}
			done := w.branch()
			s := &done.saves[i]
			if s.busy = false; !fails {
				done.disks[i] = s.writing
			}
			if s.queued {
				s.busy, s.queued, s.writing = true, false, s.next
				reach(&done, sim.MemberName(i)+" begins another save")
				continue
			}
			*s = smallSave{}
			e.happen(&done, i, done.clocks[i], &policy.Event{Kind: policy.Saved, Failed: fails}, reach)
		}
	}
}

// happen lets one event happen to a member: in full and, if the member may crash, up to each of the effects.
func (e *explorer) happen(w *small, i int, at policy.Time, ev *policy.Event, reach func(*small, string)) {
	after := w.branch()
	after.clocks[i] = max(w.clocks[i], at)
	if ev.Kind == policy.Finished {
		after.running[i] = false
	}
	n := e.step(&after, i, ev, -1)
	reach(&after, sim.MemberName(i)+" "+ev.Kind.String())
	if w.crashes == 0 {
		return
	}
	for k := range n {
		for _, landed := range []bool{false, true} {
			crashed := w.branch()
			crashed.crashes--
			crashed.clocks[i] = max(w.clocks[i], at)
			e.step(&crashed, i, ev, k)
			if landed && !crashed.saves[i].busy {
				break
			}
			if landed {
				crashed.disks[i] = crashed.saves[i].writing
			}
			crashed.copies.Watch(&sim.Occurrence{Kind: sim.Crashed, Member: i})
			e.launch(&crashed, i)
			reach(&crashed, sim.MemberName(i)+" "+ev.Kind.String()+", crashing on the way")
		}
	}
}

// branch copies a world, including sent and copies, which a plain copy would share.
func (w *small) branch() small {
	c := *w
	c.sent = slices.Clip(w.sent)
	c.copies = w.copies.Clone()
	return c
}

// step gives a member an event and carries out the effects, or only the first upTo of them if upTo is not negative. It
// returns the number of effects.
func (e *explorer) step(w *small, i int, ev *policy.Event, upTo int) int {
	if ev.Kind == policy.Received && ev.Msg.Kind == guardian.KindYield && w.machines[i].Expects(&ev.Msg) {
		w.asked[i] = math.MaxUint8 // The member's holder tells it that nobody holds the token.
	}
	e.drawn = w.drawn
	now := policy.Instant{Time: w.clocks[i], Wall: sim.Epoch + int64(w.clocks[i])}
	e.effects = w.machines[i].Step(now, ev, e.effects[:0])
	w.drawn = e.drawn
	effects := e.effects
	if upTo >= 0 {
		effects = effects[:min(upTo, len(effects))]
	}
	w.copies.Watch(&sim.Occurrence{Kind: sim.Stepped, Member: i, Event: ev, Effects: effects, Of: len(e.effects)})
	saves := false
	for k := range effects {
		switch f := &effects[k]; f.Kind {
		case policy.Save:
			saves = true
			w.save(i, e.slow, &f.State)
		case policy.Send:
			w.send(&f.Msg)
			if f.Msg.Kind == guardian.KindAsk {
				w.asked[i] |= 1 << sim.IndexOf(f.Msg.To)
				trail := guardian.TrailOf(&f.Msg.Load)
				for _, id := range trail[:trail.Len()] {
					w.mayKnow[i] |= 1 << sim.IndexOf(id) &^ (1 << i)
				}
			}
		case policy.Run:
			w.running[i] = true
			if w.clocks[i].Sub(w.disks[i].LastRun) > time.Second/2 ||
				soft.MemoOf(&w.disks[i].Memo).Token != f.Token.ID {
				panic("a run that was not saved: " + w.machines[i].String())
			}
		case policy.Tell:
			e.told[f.Note]++
			w.question(i, f)
		case policy.Extend, policy.Stop, policy.PreSign, policy.Took, policy.Gave, policy.Announce, policy.Gone,
			policy.Proclaim:
		}
	}
	n := len(e.effects)
	if !saves || e.slow || upTo >= 0 && upTo < n {
		return n
	}
	if upTo >= 0 {
		upTo -= n
	}
	return n + e.step(w, i, &policy.Event{Kind: policy.Saved}, upTo)
}

// save puts a state on a disk, or on its way there.
func (w *small) save(i int, slow bool, state *policy.State) {
	s := &w.saves[i]
	switch {
	case !slow:
		w.disks[i] = *state
	case s.busy:
		s.queued, s.next = true, *state
	default:
		s.busy, s.writing = true, *state
	}
}

// send adds a message to those that were sent, which are in the order of their bytes.
func (w *small) send(m *wire.Message) {
	place, found := slices.BinarySearchFunc(w.sent, m, func(a wire.Message, b *wire.Message) int {
		var x, y [2 * wire.ContentSize]byte
		return bytes.Compare(a.Append(x[:0]), b.Append(y[:0]))
	})
	if !found {
		w.sent = slices.Insert(w.sent, place, *m)
	}
}

// question checks that, before a guardian revives a token, it asks the holder, as far as it knows it, and all other
// guardians; unless the holder has yielded the token.
func (w *small) question(i int, note *policy.Effect) {
	if note.Note != guardian.NoteSuspected && note.Note != wander.NoteRevived {
		return
	}
	if !note.Peer.IsZero() {
		w.mayKnow[i] |= 1 << sim.IndexOf(note.Peer)
	}
	if note.Note == wander.NoteRevived && w.mayKnow[i]&^w.asked[i] != 0 {
		panic("a token that was revived unasked: " + w.machines[i].String())
	}
	w.asked[i], w.mayKnow[i] = 0, 0
}

// judge checks the property of the handoff.
func (e *explorer) judge(w *small) error {
	var holders [maxSmall]int
	tokens := map[wire.TokenID]int{}
	for i := range e.ids {
		s, copied := w.machines[i].Status(w.clocks[i]), w.copies.Of(i)
		if s.Holding != (copied > 0) {
			return fmt.Errorf("%s holds a token: %v, and copy %d:\n%s", sim.MemberName(i), s.Holding, copied,
				e.describe(w))
		}
		if !s.Holding {
			continue
		}
		if other := slices.Index(holders[:i], copied); other >= 0 {
			return fmt.Errorf("%s and %s both hold %v:\n%s", sim.MemberName(other), sim.MemberName(i), s.Token.ID,
				e.describe(w))
		}
		holders[i] = copied
		tokens[s.Token.ID]++
	}
	for _, n := range tokens {
		if n > 1 {
			e.copied++
		}
	}
	if len(tokens) > 0 {
		e.held++
	}
	return nil
}

// key is the same only for worlds in the same state, except for collisions of the hash. Machines are compared byte by
// byte: they are plain values, see TestAMachineIsAPlainValue.
func (e *explorer) key(w *small) uint64 {
	var h maphash.Hash
	h.SetSeed(e.seed)
	for i := range e.ids {
		h.Write(unsafe.Slice((*byte)(unsafe.Pointer(&w.machines[i])), unsafe.Sizeof(w.machines[i])))
		maphash.WriteComparable(&h, w.disks[i])
		maphash.WriteComparable(&h, w.clocks[i])
		maphash.WriteComparable(&h, w.running[i])
		maphash.WriteComparable(&h, w.saves[i])
		maphash.WriteComparable(&h, w.asked[i])
		maphash.WriteComparable(&h, w.mayKnow[i])
		maphash.WriteComparable(&h, w.copies.Of(i))
	}
	for i := range w.sent {
		maphash.WriteComparable(&h, w.sent[i])
		maphash.WriteComparable(&h, w.copies.Passing(w.sent[i].Exchange))
	}
	maphash.WriteComparable(&h, w.drawn)
	maphash.WriteComparable(&h, w.crashes)
	maphash.WriteComparable(&h, w.stops)
	return h.Sum64()
}

// A machine refers to nothing that a copy of it could change. It refers only to the source of entropy, to the list of
// peers and an earlier one, to the members that have left, to the windows, and to what is remembered of laps and of
// windows, which only saves time.
func TestAMachineIsAPlainValue(t *testing.T) {
	allowed := map[string]bool{
		"cfg.Env.Entropy": true, "handoff.cfg.Entropy": true, "guardian.cfg.Entropy": true,
		"walk.peers.Peers.IDs": true, "reunion.before": true, "cfg.Laps": true, "cfg.Settings": true,
		"cfg.Env.Roster": true, "schedule.calendar": true, "loss.certainty.gone": true,
		// Who listens to marks changes nothing in what a machine does, and nobody does here.
		"cfg.Env.Marks": true, "guardian.cfg.Marks": true, "handoff.cfg.Marks": true,
	}
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
	text := trace.NewTrace(&b, Words())
	for i := range e.ids {
		fmt.Fprintf(&b, "%s at %s: %s\n", sim.MemberName(i), sim.Seconds(w.clocks[i]), &w.machines[i])
	}
	for i := range w.sent {
		fmt.Fprintln(&b, text.Route(&w.sent[i]))
	}
	return b.String()
}

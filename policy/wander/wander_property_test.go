package wander_test

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// world is three members and an adversary that owns the network, the views, the clocks' pace and the power switch. It
// keeps every message that was ever sent, and may deliver any of them at any time, any number of times, or never. It
// may cut a member's power between any two effects of one step.
type world struct {
	t       *rapid.T
	now     policy.Instant
	members [3]*subject
	sent    []wire.Message
	// seq is the highest number with which each token was held.
	seq map[wire.TokenID]wire.Seq
	// cutAfter is how many effects of the next step are carried out before the power is cut; negative for all.
	cutAfter int
	made     int
}

// subject is one member, and what its host knows of it.
type subject struct {
	cfg     wander.Config
	m       *wander.Machine // nil while it is down
	saved   policy.State
	lives   uint64
	leaving bool
	running bool
	// saving is what is on its way to the disk, which may be slow; savedAt is when a save was last asked for.
	saving  *policy.State
	slow    bool
	savedAt policy.Time
	lastSeq wire.Seq
	// wanted is true while a caller waits for a run.
	wanted bool
	subjectRan
	// before is the same before the last run.
	before subjectRan
}

// subjectRan is whether and when a member last ran its operation, and in which of its lives. called is true if a caller
// has run since.
type subjectRan struct {
	ran     bool
	called  bool
	lastRun policy.Time
	ranIn   uint64
}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, seq: map[wire.TokenID]wire.Seq{}, cutAfter: -1}
	w.now = policy.Instant{Time: policy.Time(time.Hour), Wall: noon}
	for i := range w.members {
		cfg := config()
		cfg.Self, cfg.MinInterval, cfg.WaitsAlone, cfg.OnDemand = id(i), 20*time.Second, i == 2, i == 1
		w.members[i] = &subject{cfg: cfg}
	}
	for i := range w.members {
		w.start(i)
	}
	return w
}

func (w *world) start(i int) {
	m := w.members[i]
	m.lives++
	// The power may have been cut before or after the state on its way was on the disk.
	if m.saving != nil && rapid.Bool().Draw(w.t, "saved") {
		m.saved = *m.saving
	}
	m.cfg.Entropy = rand.NewPCG(uint64(i), m.lives)
	m.m, m.leaving, m.running, m.saving, m.wanted = wander.New(m.cfg), false, false, nil, false
	w.step(i, policy.Event{Kind: policy.Started, State: m.saved})
	w.view(i, []int{0, 1, 2}, false)
}

func (w *world) step(i int, ev policy.Event) {
	m := w.members[i]
	before := *m.m
	early := !due(&before, w.now.Time)
	idle := early && ev.Kind == policy.Woke
	unexpected := early && ev.Kind == policy.Received && !before.Expects(&ev.Msg)

	out := m.m.Step(w.now, &ev, nil)
	if at, ok := m.m.NextWake(); ev.Kind == policy.Woke && ok && at <= w.now.Time {
		w.t.Fatalf("woken at %v, it asks for %v: %s", w.now.Time, at, m.m)
	}
	if idle && (len(out) > 0 || !reflect.DeepEqual(before, *m.m)) {
		w.t.Fatalf("an early Woke changed something: %s", m.m)
	}
	if unexpected && !reflect.DeepEqual(before, *m.m) {
		w.t.Fatalf("a %v that was not expected changed something: %s", ev.Msg.Kind, m.m)
	}
	for k := range out {
		if k == w.cutAfter {
			m.m, m.running = nil, false
			break
		}
		w.carryOut(m, &out[k])
	}
	w.cutAfter = -1
	w.check()
	if m.m != nil && m.saving != nil && !m.slow {
		w.save(i, false)
	}
}

func due(m *wander.Machine, now policy.Time) bool {
	at, ok := m.NextWake()
	return ok && at <= now
}

func (w *world) carryOut(m *subject, e *policy.Effect) {
	switch e.Kind {
	case policy.Save:
		m.saving, m.savedAt = &e.State, w.now.Time
	case policy.Send:
		if got, ok := wire.Parse(e.Msg.Append(nil)); !ok || got != e.Msg || got.From != m.cfg.Self ||
			!wander.Descriptor().WellFormed(&got) {
			w.t.Fatalf("a datagram cannot carry %+v", e.Msg)
		}
		w.sent = append(w.sent, e.Msg)
	case policy.Run:
		w.run(m, e.Token, e.Demanded)
	case policy.Tell:
		if e.Note == wander.NoteCreated || e.Note == wander.NoteRegenerated {
			w.made++
		}
	case policy.Extend, policy.Stop, policy.PreSign, policy.Took, policy.Gave, policy.Announce, policy.Gone,
		policy.Proclaim:
	}
}

func (w *world) run(m *subject, token wire.Ref, demanded bool) {
	// The disk has when the run was granted, not when it started.
	slack := time.Duration(0)
	if m.ranIn != m.lives {
		slack = skip / 2
	}
	switch {
	case m.running:
		w.t.Fatal("a second run starts before the first has ended")
	case m.leaving:
		w.t.Fatal("a leaving member runs")
	case m.cfg.OnDemand && !m.wanted:
		w.t.Fatal("a member runs on demand, and there is none")
	case w.now.Time > m.savedAt.Add(skip/2):
		w.t.Fatalf("a run starts %v after it was granted", w.now.Time.Sub(m.savedAt))
	case token.Seq <= m.lastSeq:
		w.t.Fatalf("fencing number %d after %d", token.Seq, m.lastSeq)
	case demanded && (m.cfg.OnDemand || !m.wanted || m.saving != nil || m.saved.Seq < token.Seq ||
		m.ranIn == m.lives && m.saved.LastRun != m.lastRun):
		w.t.Fatalf("a run for those who wait, of whom there are some (%v), saved as %+v", m.wanted, m.saved)
	case demanded && m.called && m.ranIn == m.lives && w.now.Time >= m.lastRun.Add(m.cfg.MinInterval):
		w.t.Fatalf("the hook is due for %v, and has to wait for a second caller",
			w.now.Time.Sub(m.lastRun.Add(m.cfg.MinInterval)))
	case demanded:
		m.before, m.wanted, m.running, m.lastSeq = m.subjectRan, false, true, token.Seq
		m.called = true
		return
	case m.saving != nil || !m.saved.HasRun || m.saved.LastRun != m.savedAt ||
		soft.MemoOf(&m.saved.Memo).Token != token.ID || m.saved.Seq < token.Seq:
		w.t.Fatalf("a run starts before it is saved: %+v", m.saved)
	case m.ran && w.now.Time < m.lastRun.Add(m.cfg.MinInterval-slack):
		w.t.Fatalf("a run starts %v after the last", w.now.Time.Sub(m.lastRun))
	}
	m.before = m.subjectRan
	m.wanted = false
	m.running, m.lastSeq, m.subjectRan = true, token.Seq, subjectRan{ran: true, lastRun: w.now.Time, ranIn: m.lives}
}

// check checks what must hold in every state.
func (w *world) check() {
	var held []wire.TokenID
	for _, m := range w.members {
		if m.m == nil {
			continue
		}
		st := m.m.Detail(w.now.Time)
		if line := m.m.String(); strings.Contains(line, "\n") || strings.Contains(line, "?") {
			w.t.Fatalf("a line for traces is %q", line)
		}
		if st.RegenerateAfter < st.MaxInterval {
			w.t.Fatalf("regenerate-after %v is below max_interval %v", st.RegenerateAfter, st.MaxInterval)
		}
		if due := st.NextRun < policy.Never; due != (m.wanted || !m.cfg.OnDemand) {
			w.t.Fatalf("that somebody waits for it is %v, and that it is ever due is %v", m.wanted, due)
		}
		if !st.Holding {
			continue
		}
		if slices.Contains(held, st.Token.ID) {
			w.t.Fatalf("two members hold %v", st.Token.ID)
		}
		held = append(held, st.Token.ID)
		if st.Token.Seq < w.seq[st.Token.ID] {
			w.t.Fatalf("%v falls from number %d to %d", st.Token.ID, w.seq[st.Token.ID], st.Token.Seq)
		}
		w.seq[st.Token.ID] = st.Token.Seq
	}
}

func (w *world) view(i int, others []int, known bool) {
	if w.members[i].m == nil {
		return
	}
	peers := []wire.MemberID{id(i)}
	for _, o := range others {
		if o != i {
			peers = append(peers, id(o))
		}
	}
	slices.SortFunc(peers, wire.MemberID.Compare)
	w.step(i, policy.Event{Kind: policy.PeersChanged, Peers: peers, TokenKnown: known})
}

func (w *world) deliver(t *rapid.T) {
	if len(w.sent) == 0 {
		return
	}
	oldest := len(w.sent) - 1
	if rapid.IntRange(0, 4).Draw(t, "old") > 0 {
		oldest = min(oldest, 2)
	}
	msg := w.sent[len(w.sent)-1-rapid.IntRange(0, oldest).Draw(t, "age")]
	if to := int(msg.To[0]); w.members[to].m != nil {
		w.step(to, policy.Event{Kind: policy.Received, Msg: msg})
	}
}

// save ends what is on its way to a disk.
func (w *world) save(i int, failed bool) {
	m := w.members[i]
	if !failed {
		m.saved = *m.saving
	}
	m.saving = nil
	w.step(i, policy.Event{Kind: policy.Saved, Failed: failed})
}

// disk ends the saves of a disk, or makes it slow.
func (w *world) disk(t *rapid.T) {
	i, m := w.someone(t)
	m.slow = rapid.Bool().Draw(t, "slow")
	if m.m != nil && m.saving != nil {
		w.save(i, rapid.IntRange(0, 3).Draw(t, "fails") == 0)
	}
}

// advance lets time pass and wakes some, late or not at all.
func (w *world) advance(t *rapid.T) {
	span := rapid.SampledFrom([]time.Duration{10 * time.Millisecond, skip, longSpan}).Draw(t, "span")
	d := time.Duration(rapid.Int64Range(0, int64(span)).Draw(t, "by"))
	w.now.Time = w.now.Time.Add(d)
	w.now.Wall += int64(d)
	for i, m := range w.members {
		if m.m != nil && rapid.IntRange(0, 3).Draw(t, "wake") > 0 {
			w.step(i, policy.Event{Kind: policy.Woke})
		}
	}
}

// longSpan is longer than max_interval, so that tokens are regenerated.
const longSpan = 70 * time.Second

// wake lets time pass until something is due somewhere, and does it.
func (w *world) wake(*rapid.T) {
	who, at := -1, policy.Time(0)
	for i, m := range w.members {
		if m.m == nil {
			continue
		}
		if next, ok := m.m.NextWake(); ok && (who < 0 || next < at) {
			who, at = i, next
		}
	}
	if who >= 0 {
		d := max(at.Sub(w.now.Time), 0)
		w.now.Time = w.now.Time.Add(d)
		w.now.Wall += int64(d)
		w.step(who, policy.Event{Kind: policy.Woke})
	}
}

func (w *world) someone(t *rapid.T) (int, *subject) {
	i := rapid.IntRange(0, 2).Draw(t, "who")
	return i, w.members[i]
}

func (w *world) finish(t *rapid.T) {
	for i, m := range w.members {
		if m.running {
			m.running = false
			denied := rapid.IntRange(0, 2).Draw(t, "denied") == 0
			if denied {
				m.subjectRan = m.before
			}
			w.step(i, policy.Event{Kind: policy.Finished, Denied: denied})
		}
	}
}

func (w *world) ask(t *rapid.T) {
	i, m := w.someone(t)
	if m.m == nil {
		return
	}
	ev := policy.Event{Kind: policy.Unwanted}
	if m.wanted = rapid.Bool().Draw(t, "wanted"); m.wanted {
		ev.Kind = policy.Wanted
	}
	w.step(i, ev)
}

func (w *world) change(t *rapid.T) {
	i, _ := w.someone(t)
	views := [][]int{{0, 1, 2}, {0, 1, 2}, {0, 1}, {1, 2}, {i}}
	w.view(i, rapid.SampledFrom(views).Draw(t, "view"), rapid.Bool().Draw(t, "known"))
}

func (w *world) disturb(t *rapid.T) {
	i, m := w.someone(t)
	switch what := rapid.IntRange(0, 4).Draw(t, "what"); {
	case m.m == nil:
		w.start(i)
	case what == 0:
		w.step(i, policy.Event{
			Kind: policy.Suspended, Slept: time.Duration(rapid.Int64Range(0, int64(longSpan)).Draw(t, "slept")),
		})
	case what == 1:
		m.leaving = true
		w.step(i, policy.Event{Kind: policy.Leave})
	case what == 2:
		w.now.Wall += rapid.Int64Range(-int64(time.Hour), int64(time.Hour)).Draw(t, "skew")
	default:
		m.m, m.running = nil, false
	}
}

// cut cuts the power in the middle of the next step, wherever that is.
func (w *world) cut(t *rapid.T) { w.cutAfter = rapid.IntRange(0, 3).Draw(t, "after") }

// In every state, under loss, duplication, reordering, delay, replay, suspension, crash and restart: of each token at
// most one member is the holder, and its number never falls; a member never runs twice within min_interval, never
// without a save before, never on demand without a demand, and only under rising numbers; a machine that was woken
// never asks to be woken in the past.
func TestTheInvariantsHoldInEveryState(t *testing.T) {
	checks, made, runs := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		actions := map[string]func(*rapid.T){
			"deliver": w.deliver, "wake": w.wake, "finish": w.finish, "advance": w.advance, "change": w.change,
			"disturb": w.disturb, "cut": w.cut, "disk": w.disk, "ask": w.ask,
		}
		often := []string{
			"deliver", "deliver", "deliver", "deliver", "deliver", "deliver", "deliver", "deliver", "deliver",
			"deliver",
			"wake", "wake", "wake", "wake", "finish", "finish", "advance", "change", "disturb", "cut", "disk", "ask",
		}
		for range 300 {
			actions[rapid.SampledFrom(often).Draw(t, "action")](t)
		}
		checks++
		made += w.made
		for _, m := range w.members {
			if m.ran {
				runs++
			}
		}
	})
	if made < checks || runs < checks {
		t.Errorf("in %d worlds only %d tokens were made and only %d members ran: too little was tried", checks, made,
			runs)
	}
}

package gate

import (
	"bytes"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/clock"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/stages"
	"github.com/wanderd/wanderd/wire"
)

// bench is one gate whose machine does what the test decides, and whose environment is in memory: no socket, no
// process, no membership. The test acts as the loop.
type bench struct {
	t       *testing.T
	gate    *Gate
	machine *script
	fleet   *pretendFleet
	disk    *pretendDisk
	ended   chan func()
	log     bytes.Buffer
	seen    []Observation
	// starts receives what the gate starts.
	starts chan *pretendRun
	// refuses is why a hook cannot be started.
	refuses error
}

// newBench makes a gate with a hook, and lets it begin.
func newBench(t *testing.T, change func(*Config)) *bench {
	t.Helper()
	b := &bench{
		t: t, machine: &script{}, fleet: &pretendFleet{}, disk: &pretendDisk{goes: make(chan error, 1)},
		ended:  make(chan func(), 5),
		starts: make(chan *pretendRun, 1),
	}
	cfg := Config{
		Name: "default", Hook: []string{"hook"}, HookTimeout: time.Minute, Protocol: pretendProtocol{b.machine},
	}
	if change != nil {
		change(&cfg)
	}
	dir, err := statedir.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	me := policy.Voter{Name: "a", ID: wire.MemberID{1}}
	past, err := Read(dir, me, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.gate = New(&Env{
		Self: me.ID, Name: me.Name, Started: time.Now(), Log: zerolog.New(&lockedWriter{w: &b.log}),
		Clock: clock.New(clock.OfHost()), Ended: b.ended,
		Disk: b.disk, Fleet: b.fleet, Start: b.start, HostStops: func() bool { return false },
		Alone: func() (waits, rejoins bool) { return false, false }, Runs: pretendMeter{}, Commands: pretendMeter{},
		Observe: func(o Observation) { b.seen = append(b.seen, o) },
	}, cfg, past)
	b.gate.Begin()
	t.Cleanup(b.gate.Close)
	return b
}

func (b *bench) start(spec hook.Spec) (HookRun, error) {
	if b.refuses != nil {
		return nil, b.refuses
	}
	run := newPretendRun(spec)
	b.starts <- run
	return run, nil
}

// does makes the machine answer the next step with these effects, and steps it.
func (b *bench) does(effects ...policy.Effect) {
	b.machine.next = effects
	b.gate.event.Kind = policy.Woke
	b.gate.step()
}

// run is a grant that ends a minute from now at the earliest.
func (b *bench) run() policy.Effect {
	return policy.Effect{
		Kind: policy.Run, Token: wire.Ref{Seq: 7}, StartBy: b.gate.env.Clock.Now().Time.Add(time.Minute),
	}
}

// completes waits for the next completion, and calls it.
func (b *bench) completes() { (<-b.ended)() }

// wantEvents checks which events the machine has received since the last call.
func (b *bench) wantEvents(want ...policy.EventKind) {
	b.t.Helper()
	got := b.machine.told
	b.machine.told = nil
	if !slices.Equal(got, want) {
		b.t.Errorf("the machine was told of %v, and not of %v", got, want)
	}
}

// script is a machine that does what a test says.
type script struct {
	told   []policy.EventKind
	last   policy.Event
	next   []policy.Effect
	status policy.Status
	facts  []policy.Fact
	panics bool
	// ready is whether the machine was last told that its host is ready; due, whether its operation is due.
	ready, due bool
	// again is true if the machine does the same at each step, and remembers nothing.
	again bool
}

func (s *script) Step(_ policy.Instant, ev *policy.Event, out []policy.Effect) []policy.Effect {
	if s.panics {
		panic("a fault")
	}
	out = append(out, s.next...)
	if !s.again {
		s.told, s.last, s.next = append(s.told, ev.Kind), *ev, nil
	}
	return out
}

func (s *script) NextWake() (policy.Time, bool)    { return policy.Never, false }
func (s *script) Expects(*wire.Message) bool       { return true }
func (s *script) Status(policy.Time) policy.Status { return s.status }
func (s *script) Facts(_ policy.Time, out []policy.Fact) []policy.Fact {
	return append(out, s.facts...)
}
func (s *script) String() string { return "script" }

func (s *script) SetReady(own, _ bool) { s.ready = own }

func (s *script) DueAt(now policy.Time) policy.Time {
	if s.due {
		return now
	}
	return policy.Never
}

// pretendProtocol has one machine.
type pretendProtocol struct{ machine *script }

func (p pretendProtocol) Descriptor() policy.Descriptor {
	return policy.Descriptor{Name: "script", Version: 1}
}
func (p pretendProtocol) Machine(policy.Env) policy.Machine { return p.machine }
func (p pretendProtocol) SaveWithin() time.Duration         { return time.Second }
func (p pretendProtocol) OrphanGrace() time.Duration        { return time.Second }

// pretendFleet is the other members as a gate sees them.
type pretendFleet struct {
	members []Peer
	sent    []wire.Message
	// forgets is true if it does not remember what was sent.
	forgets   bool
	notified  []string
	withdrawn int
}

func (f *pretendFleet) Lookup(_ wire.GateID, id wire.MemberID) (Peer, bool) {
	i := slices.IndexFunc(f.members, func(p Peer) bool { return p.ID == id })
	if i < 0 {
		return Peer{}, false
	}
	return f.members[i], true
}

func (f *pretendFleet) Away(wire.GateID) []Peer { return nil }
func (*pretendFleet) HasCompany() bool          { return false }

func (*pretendFleet) IsForgotten(wire.MemberID) bool { return false }
func (f *pretendFleet) Members(wire.GateID) []Peer   { return f.members }

func (f *pretendFleet) Peers(wire.GateID, uint64) (ids []wire.MemberID, tokenKnown bool, others []Peer) {
	for _, m := range f.members {
		ids = append(ids, m.ID)
	}
	return ids, false, nil
}

func (f *pretendFleet) Send(m *wire.Message, _ netip.AddrPort) error {
	if !f.forgets {
		f.sent = append(f.sent, *m)
	}
	return nil
}

func (f *pretendFleet) Seal(*wire.Message) []byte   { return []byte("sealed") }
func (f *pretendFleet) Announce(wire.GateID)        {}
func (f *pretendFleet) Declare(wire.GateID, uint64) {}

func (f *pretendFleet) Stand(wire.GateID, stages.Standing) {}

func (f *pretendFleet) Notify(_ wire.GateID, _ wire.Directive, who, reason string) error {
	f.notified = append(f.notified, who+": "+reason)
	return nil
}

func (f *pretendFleet) Withdraw() error {
	f.withdrawn++
	return nil
}

// pretendDisk saves when the test decides, and with the error that the test gives.
type pretendDisk struct {
	goes  chan error
	mu    sync.Mutex
	saved []statedir.Record
}

func (d *pretendDisk) Save(_ string, r statedir.Record) error {
	err := <-d.goes
	d.mu.Lock()
	defer d.mu.Unlock()
	d.saved = append(d.saved, r)
	return err
}

func (d *pretendDisk) SaveRoster(string, statedir.Roster) error { return nil }

type pretendMeter struct{}

func (pretendMeter) Waited(string, time.Duration) {}
func (pretendMeter) Ended(string, time.Duration)  {}

// pretendRun is a hook that ends when the test decides.
type pretendRun struct {
	spec     hook.Spec
	done     chan hook.Result
	mu       sync.Mutex
	stopped  bool
	extended []time.Duration
}

func newPretendRun(spec hook.Spec) *pretendRun {
	return &pretendRun{spec: spec, done: make(chan hook.Result, 1)}
}

func (p *pretendRun) Stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
}

func (p *pretendRun) isStopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopped
}

func (p *pretendRun) Extend(until time.Duration) { p.extended = append(p.extended, until) }
func (p *pretendRun) PreSigned([]hook.Word)      {}
func (p *pretendRun) Done() <-chan hook.Result   { return p.done }

// lockedWriter takes lines of several goroutines.
type lockedWriter struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

func (l *lockedWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(line)
}

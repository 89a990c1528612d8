package agent

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/aftercare"
	"github.com/wanderd/wanderd/agent/clock"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/events"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/statedir"
	"github.com/wanderd/wanderd/agent/transport"
	"github.com/wanderd/wanderd/agent/transport/memnet"
	"github.com/wanderd/wanderd/lab/bubble"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/downcount"
	"github.com/wanderd/wanderd/policy/policytest"
	"github.com/wanderd/wanderd/policy/stages"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/wire"
)

// world is a fleet of complete agents with real memberlist, in virtual time on a network in memory. Only the hooks are
// not real processes.
type world struct {
	t    *testing.T
	net  *memnet.Network
	gate soft
	// takes is how long a hook takes; zero is the gate's op.
	takes time.Duration
	// result is how hooks end that end by themselves; results is how they end on one host.
	result  hook.Result
	results map[string]hook.Result
	// dir holds the agents' state directories.
	dir string
	// log is the log of agents that start from now on.
	log zerolog.Logger
	wg  sync.WaitGroup

	mu     sync.Mutex
	seen   []gate.Observation
	agents map[string]*resident
	// rosters are the rosters of a strict gate by agent; without any, the gate is soft.
	rosters map[string][]string
	// strictly is the protocol of the strict gate; nil means policytest.
	strictly policy.Protocol
	// keep is how long a grant of the strict gate, which has a hook then, outlives its host.
	keep       time.Duration
	standStill bool
	// says has the hosts' answers to their ready checks, and asked the times at which these ran.
	says  map[string]answer
	asked map[string][]time.Time
	// events are the receivers of events, and told what each host has told them.
	events events.Config
	told   map[string][]events.Event
	// refuses makes the receivers say "not now".
	refuses bool
	// care is what follows a run, and health the hosts' answers then.
	care    aftercare.Config
	health  map[string]answer
	maxDown downcount.Limit
	// once is the interval in which one success is enough for all.
	once time.Duration
	// stages are the stages of the gate.
	stages stages.Config
	// saves is how long a save on a host's disk takes.
	saves map[string]time.Duration
	// gatesOn are the gates of one host, if those differ from the world's gate; spans are what ran under which gates.
	gatesOn map[string][]gate.Config
	spans   []*span
	// wanders has the agents whose soft gate has a wandering token, although the gate is on call.
	wanders map[string]bool
}

// resident is one agent of a world.
type resident struct {
	*Agent
	addr   netip.AddrPort
	stop   context.CancelFunc
	ended  chan error
	asleep time.Duration
	// called is the agent's name; empty means the name under which the world knows it.
	called string
	// ownSecret is a secret that the others do not have; nil means the fleet's.
	ownSecret *wire.Secret
	// ahead is how far the host's wall clock is ahead; boots counts the host's restarts, and bootedAt is when the last
	// was.
	ahead    time.Duration
	synced   bool
	boots    int
	bootedAt time.Time
	// stops is true while the host is being shut down, comesUp while it is starting.
	stops, comesUp bool
	// The world's lock guards these: the hooks that run now, and the last of them.
	running int
	hook    *pretendRun
}

// The constants of most worlds.
func testGate() soft {
	return soft{
		Name: "default", Hook: []string{"pretend"}, HookTimeout: time.Minute,
		Settings: wander.Settings{Skip: time.Second, Op: 4 * time.Second, MinInterval: time.Minute},
	}
}

// soft is a soft gate.
type soft struct {
	Name        string
	Hook        []string
	HookTimeout time.Duration
	// hard is window_hard; ready is true if the hosts have a ready check.
	hard      bool
	ready     bool
	StopAfter int
	// mine is the place for a fault in its machines; nil if they have none.
	mine *mine
	// onCall is true if the token comes when it is called; it then takes of the settings what it has.
	onCall bool
	wander.Settings
}

func (g *soft) config() gate.Config {
	c := gate.Config{
		Name: g.Name, Hook: g.Hook, HookTimeout: g.HookTimeout, StopAfter: g.StopAfter, WindowHard: g.hard,
		Protocol: g.Settings, Keep: g.Keep,
	}
	if g.ready {
		asks(&c)
	}
	if s := &g.Settings; g.onCall {
		c.Protocol = call.Settings{
			Skip: s.Skip, MinInterval: s.MinInterval, RetryAfter: s.RetryAfter, MaxInterval: s.MaxInterval,
			Windows: s.Windows, Backups: max(s.Backups, 1), Keep: s.Keep,
			SlotsShare: s.SlotsShare, Soak: s.Soak,
		}
	}
	always := *g
	if always.Windows = nil; len(g.Windows) > 0 {
		c.AnyTime = always.config().Protocol
	}
	if g.mine != nil {
		c.Protocol = mined{g.Settings, g.mine}
	}
	return c
}

// asks gives the hosts of a gate a ready check.
func asks(g *gate.Config) {
	g.Ready, g.ReadyTimeout, g.ReadyAgain = []string{"ask"}, 30*time.Second, 10*time.Minute
}

// inWorld runs a scenario in virtual time and stops the remaining agents at its end.
func inWorld(t *testing.T, gate soft, scenario func(w *world)) {
	t.Helper()
	dir := t.TempDir()
	bubble.Test(t, func(t *testing.T) {
		w := &world{
			t: t, net: memnet.New(memnet.Options{Seed: 1, Latency: time.Millisecond, Jitter: time.Millisecond}),
			gate: gate, dir: dir, log: zerolog.Nop(), agents: make(map[string]*resident),
			saves: make(map[string]time.Duration), says: make(map[string]answer), asked: make(map[string][]time.Time),
			health: make(map[string]answer),
		}
		for i, name := range []string{"a", "b", "c", "d", "e"} {
			w.agents[name] = &resident{
				bootedAt: time.Now(), addr: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i + 1)}), 7946),
			}
		}
		scenario(w)
		for _, r := range w.agents {
			if r.stop != nil {
				r.stop()
			}
		}
		w.wg.Wait()
		// memberlist's last probes run into their timeouts.
		time.Sleep(time.Minute)
	})
}

// start starts an agent. It joins all others' addresses, unless it is a fleet of one.
func (w *world) start(name string, alone Alone) {
	w.t.Helper()
	var join []string
	for other := range w.agents {
		if other != name && alone == AloneWait {
			join = append(join, other)
		}
	}
	slices.Sort(join)
	w.startJoining(name, alone, join...)
}

// startJoining starts an agent that joins some others.
func (w *world) startJoining(name string, alone Alone, others ...string) {
	w.t.Helper()
	r := w.agents[name]
	var join []string
	for _, other := range others {
		join = append(join, w.agents[other].addr.String())
	}
	home := filepath.Join(w.dir, name)
	cfg := Config{
		Name: cmp.Or(r.called, name), Bind: r.addr, Join: join, Alone: alone, StateDir: home,
		Socket: filepath.Join(home, "s"),
		Secret: cmp.Or(r.ownSecret, &wire.Secret{1, 2, 3}), StopTimeout: 15 * time.Second, Log: w.log,
		Gates: w.gatesOf(name), Observe: w.observe, Events: w.events,
	}
	a, err := NewWith(cfg, Deps{
		Listen: func(addr netip.AddrPort) (*transport.Endpoint, error) { return w.net.Endpoint(addr), nil },
		StartHook: func(spec hook.Spec) (gate.HookRun, error) {
			if spec.For == "on_event" {
				return w.tell(r, spec), nil
			}
			if spec.Question || spec.For != "" {
				return w.answer(r, spec), nil
			}
			return w.pretend(r, spec), nil
		},
		Serve: func(string, string, control.Source, zerolog.Logger) (io.Closer, error) {
			return io.NopCloser(nil), nil
		},
		Save: w.save,
		Host: clock.Host{
			Wall:   func() time.Time { return read(w, func() time.Time { return time.Now().Add(r.ahead) }) },
			Asleep: func() time.Duration { return read(w, func() time.Duration { return r.asleep }) },
			Boot: func() clock.Boot {
				return read(w, func() clock.Boot {
					return clock.Boot{ID: fmt.Sprint(r.boots), Up: time.Since(r.bootedAt), Synced: r.synced}
				})
			},
		},
		Stops:  func() bool { return read(w, func() bool { return r.stops }) },
		Starts: func() bool { return read(w, func() bool { return r.comesUp }) },
	})
	if err != nil {
		w.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.Agent, r.stop, r.ended = a, cancel, make(chan error, 1)
	w.wg.Go(func() { r.ended <- a.Run(ctx) })
}

// gatesOf returns the gates of a host.
func (w *world) gatesOf(name string) []gate.Config {
	if own := w.gatesOn[name]; own != nil {
		return own
	}
	return []gate.Config{w.gateOf(name)}
}

// gateOf returns the gate as an agent is configured with it.
func (w *world) gateOf(name string) gate.Config {
	if w.rosters == nil {
		g := w.gate
		g.onCall = g.onCall && !w.wanders[name]
		c := g.config()
		c.Aftercare, c.MaxDown, c.StandStill, c.Stages = w.care, w.maxDown, w.standStill, w.stages
		c.Once = w.once
		return c
	}
	c := gate.Config{
		Name: w.gate.Name, Roster: w.rosters[name], KillAfter: time.Second, Protocol: w.strictly, Aftercare: w.care,
		StopAfter: w.gate.StopAfter, MaxDown: w.maxDown, Stages: w.stages, Once: w.once,
	}
	if w.gate.ready {
		c.Hook, c.HookTimeout = w.gate.Hook, w.gate.HookTimeout
		asks(&c)
	}
	if w.keep > 0 || w.once > 0 || w.care.Soak > 0 {
		c.Hook, c.HookTimeout, c.Keep = w.gate.Hook, w.gate.HookTimeout, w.keep
		c.StandStill = w.standStill
	}
	if c.Protocol == nil {
		c.Protocol = policytest.Settings{
			Lease: 8 * time.Second, MostLease: 8 * time.Second, KillAfter: time.Second, Margin: 100 * time.Millisecond,
			Rho:      0.01,
			Patience: 200 * time.Millisecond,
		}
	}
	return c
}

// set changes the world under its lock.
func (w *world) set(what func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	what()
}

// read reads the world under its lock.
func read[T any](w *world, what func() T) T {
	w.mu.Lock()
	defer w.mu.Unlock()
	return what()
}

func (w *world) startAll() {
	for _, name := range w.names() {
		w.start(name, AloneWait)
	}
}

func (w *world) names() []string {
	var names []string
	for name := range w.agents {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// save is a save that takes as long as the host's disk.
func (w *world) save(dir *statedir.Dir, gate string, r statedir.Record) error {
	w.mu.Lock()
	takes := w.saves[filepath.Base(dir.Path())]
	w.mu.Unlock()
	time.Sleep(takes)
	return dir.Save(gate, r)
}

// crash kills an agent: its sockets are gone. Its hook ignores SIGTERM, and is killed after the grace.
func (w *world) crash(name string) {
	r := w.agents[name]
	if p := read(w, func() *pretendRun { return r.hook }); p != nil {
		close(p.orphaned)
	}
	w.net.Crash(r.addr)
	if err := <-r.ended; err == nil {
		w.t.Errorf("%s has not noticed that its sockets are gone", name)
	}
	r.stop()
	r.stop = nil
}

// leave stops an agent gracefully.
func (w *world) leave(name string) error {
	r := w.agents[name]
	r.stop()
	r.stop = nil
	return <-r.ended
}

func (w *world) observe(o gate.Observation) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = append(w.seen, o)
}

// count counts the notes of one kind since a time.
func (w *world) count(n policy.Note, since time.Time) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := 0
	for _, o := range w.seen {
		if o.Note == n && !o.At.Before(since) {
			c++
		}
	}
	return c
}

// runs returns the observations of hooks that started since a time.
func (w *world) runs(since time.Time) []gate.Observation {
	w.mu.Lock()
	defer w.mu.Unlock()
	var all []gate.Observation
	for _, o := range w.seen {
		if o.Granted && !o.At.Before(since) {
			all = append(all, o)
		}
	}
	return all
}

// overlap returns for how long two or more hooks ran at once since a time.
func (w *world) overlap(since time.Time) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	var total time.Duration
	running, from := 0, time.Time{}
	for _, o := range w.seen {
		if o.At.Before(since) {
			continue
		}
		switch {
		case o.Granted:
			if running++; running == 2 {
				from = o.At
			}
		case o.Ended && running > 0:
			if running--; running == 1 {
				total += o.At.Sub(from)
			}
		}
	}
	return total
}

// holders returns the members that hold a token now.
func (w *world) holders() []string {
	var all []string
	for _, name := range w.names() {
		r := w.agents[name]
		if r.stop == nil {
			continue
		}
		s, err := source{r.Agent}.Status(context.Background())
		if err != nil {
			w.t.Fatal(err)
		}
		if s.Gates[0].Holding {
			all = append(all, name)
		}
	}
	return all
}

// until waits in virtual time until a condition holds.
func (w *world) until(what string, patience time.Duration, cond func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(patience); !cond(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			w.t.Fatalf("%s: not within %s", what, patience)
		}
	}
}

// untilStarts waits until a hook starts and returns its member.
func (w *world) untilStarts(patience time.Duration) string {
	w.t.Helper()
	since := time.Now()
	w.until("somebody starts", patience, func() bool { return len(w.runs(since)) > 0 })
	return w.runs(since)[0].Name
}

// untilRuns waits until a hook runs and returns its member.
func (w *world) untilRuns(patience time.Duration) string {
	w.t.Helper()
	var who string
	w.until("somebody runs", patience, func() bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		for name, r := range w.agents {
			if r.running > 0 {
				who = name
				return true
			}
		}
		return false
	})
	return who
}

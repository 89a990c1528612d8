package beside

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/agenttest"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/agent/transport"
	"github.com/wanderd/wanderd/agent/transport/memnet"
	"github.com/wanderd/wanderd/lab/bubble"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/sim"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
	"github.com/wanderd/wanderd/wire"
)

// world is a fleet and its faults, the same for both kinds.
type world struct {
	members               int
	skip, op, minInterval time.Duration
	backups               int
	loss                  float64
	// Every so often one member dies and comes back a while later, or stands still.
	killEvery, downFor   time.Duration
	pauseEvery, pauseFor time.Duration
	// lasts is how long the fleet is watched, after it has settled.
	settles, lasts time.Duration
}

const latency = time.Millisecond

// fault is one thing that happens to a member at a time after the start of the fleet.
type fault struct {
	at     time.Duration
	member int
	what   what
}

type what uint8

const (
	dies what = iota
	starts
	pauses
)

// faults draws the faults of a seed, at times that are in step with no rhythm of the fleet.
func (w *world) faults(seed uint64) []fault {
	dice := rand.New(rand.NewPCG(seed, 1))
	var all []fault
	for from := w.settles; w.killEvery > 0 && from+w.killEvery <= w.settles+w.lasts; from += w.killEvery {
		at, who := from+time.Duration(dice.Int64N(int64(w.killEvery-w.downFor))), dice.IntN(w.members)
		all = append(all, fault{at, who, dies}, fault{at + w.downFor, who, starts})
	}
	for from := w.settles; w.pauseEvery > 0 && from+w.pauseEvery <= w.settles+w.lasts; from += w.pauseEvery {
		all = append(all, fault{
			from + time.Duration(dice.Int64N(int64(w.pauseEvery-w.pauseFor))), dice.IntN(w.members), pauses,
		})
	}
	slices.SortStableFunc(all, func(a, b fault) int { return cmp.Compare(a.at, b.at) })
	return all
}

// result is what was seen of a fleet.
type result struct {
	runs []run
	// from and to bound the time in which the fleet was watched.
	from, to time.Duration
}

// run is one operation of one member.
type run struct {
	member     int
	start, end time.Duration
}

// real runs complete agents in virtual time.
func (w *world) real(t *testing.T, seed uint64) result {
	r := recorder{open: map[int]time.Duration{}}
	dir := t.TempDir()
	bubble.Test(t, func(t *testing.T) {
		f := realFleet{
			world: w, t: t, dir: dir, begin: time.Now(), r: &r,
			net:    memnet.New(memnet.Options{Seed: seed, Latency: latency, Jitter: latency, Loss: w.loss}),
			agents: make([]*resident, w.members),
		}
		for i := range f.agents {
			f.start(i)
		}
		for _, x := range w.faults(seed) {
			time.Sleep(time.Until(f.begin.Add(x.at)))
			a := f.agents[x.member]
			switch {
			case x.what == starts:
				f.start(x.member)
			case a == nil:
			case x.what == dies:
				f.kill(x.member)
			case x.what == pauses:
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				a.Pause(ctx, w.pauseFor)
				cancel()
			}
		}
		time.Sleep(time.Until(f.begin.Add(w.settles + w.lasts)))
		for i, a := range f.agents {
			if a != nil {
				f.kill(i)
			}
		}
		f.wg.Wait()
		time.Sleep(time.Minute) // memberlist's last probes run into their timeouts.
	})
	return result{r.runs, w.settles, w.settles + w.lasts}
}

type realFleet struct {
	*world
	t      *testing.T
	dir    string
	net    *memnet.Network
	begin  time.Time
	agents []*resident
	wg     sync.WaitGroup
	r      *recorder
}

type resident struct {
	*agenttest.Agent
	stop context.CancelFunc
	dead chan struct{}
}

func addrOf(i int) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i + 1)}), 7946)
}

func (f *realFleet) start(i int) {
	home := filepath.Join(f.dir, fmt.Sprint(i))
	dead := make(chan struct{})
	a, err := agenttest.New(agent.Config{
		Name: fmt.Sprintf("host%d", i), Bind: addrOf(i), Join: []string{addrOf(0).String(), addrOf(1).String()},
		StateDir: home, Socket: filepath.Join(home, "s"), Secret: &wire.Secret{1}, StopTimeout: time.Second,
		Log: zerolog.Nop(),
		Gates: []gate.Config{{
			Name: "default", Hook: []string{"pretend"}, HookTimeout: f.minInterval,
			Protocol: wander.Settings{
				Skip: f.skip, Op: f.op, MinInterval: f.minInterval, Walk: wander.Sweep, Backups: f.backups,
			},
		}},
	}, func(addr netip.AddrPort) (*transport.Endpoint, error) { return f.net.Endpoint(addr), nil },
		func() gate.HookRun {
			r := &pretendRun{stop: make(chan struct{}), done: make(chan hook.Result, 1)}
			go func() {
				f.r.begins(i, time.Since(f.begin))
				select {
				case <-time.After(f.op):
				case <-r.stop:
				case <-dead:
					f.r.ends(i, time.Since(f.begin))
					f.say(i, r)
				}
				f.r.ends(i, time.Since(f.begin))
				r.done <- hook.Result{Took: f.op}
			}()
			return r
		})
	if err != nil {
		f.t.Error(err)
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.wg.Go(func() { _ = a.Run(ctx) })
	f.agents[i] = &resident{Agent: a, stop: cancel, dead: dead}
}

// kill ends an agent as the death of its process does. The guard ends its hook.
func (f *realFleet) kill(i int) {
	a := f.agents[i]
	f.agents[i] = nil
	f.net.Crash(addrOf(i))
	close(a.dead)
	a.stop()
}

// pretendRun is a run of a hook without a process.
type pretendRun struct {
	stop  chan struct{}
	once  sync.Once
	done  chan hook.Result
	mu    sync.Mutex
	words []hook.Word
}

func (r *pretendRun) Stop()                    { r.once.Do(func() { close(r.stop) }) }
func (r *pretendRun) Extend(time.Duration)     {}
func (r *pretendRun) Done() <-chan hook.Result { return r.done }

func (r *pretendRun) PreSigned(words []hook.Word) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.words = words
}

// say is the last thing that the guard of a hook does. The guard has a socket of its own.
func (f *realFleet) say(i int, r *pretendRun) {
	r.mu.Lock()
	words := r.words
	r.mu.Unlock()
	socket := f.net.Endpoint(netip.AddrPortFrom(addrOf(i).Addr(), 50000))
	defer func() { _ = socket.Close() }()
	for range 3 {
		for _, word := range words {
			_ = socket.Packets.WriteTo(word.Datagram, netip.Addr{}, word.To)
		}
		time.Sleep(25 * time.Millisecond)
	}
}

// recorder collects runs.
type recorder struct {
	mu   sync.Mutex
	open map[int]time.Duration
	runs []run
}

func (r *recorder) begins(i int, at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open[i] = at
}

func (r *recorder) ends(i int, at time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if start, ok := r.open[i]; ok {
		r.runs = append(r.runs, run{i, start, at})
		delete(r.open, i)
	}
}

// simulated runs the same fleet in the simulator, with the faults of one seed and the random choices of another.
func (w *world) simulated(t *testing.T, seed, luck uint64) result {
	t.Helper()
	r := recorder{open: map[int]time.Duration{}}
	s := wandering.Scenario{
		Seed: luck, Members: w.members, Skip: w.skip, Op: w.op, MinInterval: w.minInterval, Walk: wander.Sweep,
		Backups:   w.backups,
		WaitAlone: true, StartWithin: time.Millisecond,
		Network:    sim.Network{Latency: latency, Jitter: latency, Loss: w.loss},
		Membership: sim.MeasuredMembership(w.members), Hook: sim.Hook{Takes: w.op},
	}
	c := s.NewCluster(watcher{&r, w.op})
	for i := range w.members {
		c.Start(i)
	}
	for _, x := range w.faults(seed) {
		c.After(x.at, func() {
			switch x.what {
			case starts:
				c.Start(x.member)
			case dies:
				c.Crash(x.member)
			case pauses:
				c.Pause(x.member, w.pauseFor)
			}
		})
	}
	if err := c.Run(policy.Time(w.settles + w.lasts)); err != nil {
		t.Fatal(err)
	}
	return result{r.runs, w.settles, w.settles + w.lasts}
}

// watcher tells the recorder what runs in the simulator. A run ends when its operation does, even while the member
// stands still.
type watcher struct {
	r  *recorder
	op time.Duration
}

func (w watcher) Watch(c *sim.Cluster, o *sim.Occurrence) error {
	now := time.Duration(c.Now())
	for i := range o.Effects {
		if o.Effects[i].Kind == policy.Run {
			who := o.Member
			w.r.begins(who, now)
			c.After(w.op, func() { w.r.ends(who, time.Duration(c.Now())) })
		}
	}
	if o.Kind == sim.Crashed {
		w.r.ends(o.Member, now)
	}
	return nil
}

package agent

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/policy/centrallock"
	"github.com/wanderd/wanderd/wire"
)

// lockFleet is three agents on loopback whose gate is a central lock; a lends it.
type lockFleet struct {
	t      *testing.T
	agents map[string]*Agent
	stop   map[string]func()
}

func startLockFleet(t *testing.T, lease time.Duration) *lockFleet {
	t.Helper()
	f := &lockFleet{t: t, agents: map[string]*Agent{}, stop: map[string]func(){}}
	var join []string
	var server wire.MemberID
	for _, name := range []string{"a", "b", "c"} {
		dir := t.TempDir()
		a, err := New(Config{
			Name: name, Bind: netip.MustParseAddrPort("127.0.0.1:0"), Join: join, StateDir: dir,
			Socket: filepath.Join(dir, "s"), Secret: &wire.Secret{1}, StopTimeout: time.Second, Log: zerolog.Nop(),
			Gates: []GateConfig{{Name: "default", HookTimeout: time.Hour, Protocol: centrallock.Settings{Server: server, Lease: lease}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if name == "a" {
			server = a.self
		}
		ctx, cancel := context.WithCancel(context.Background())
		var wg sync.WaitGroup
		wg.Go(func() { _ = a.Run(ctx) })
		f.agents[name], f.stop[name] = a, func() { cancel(); wg.Wait() }
		t.Cleanup(f.stop[name])
		join = append(join, a.Addr().String())
	}
	return f
}

func (f *lockFleet) exec(name string, argv ...string) hook.Result {
	r, err := f.agents[name].exec(context.Background(), control.Call{Command: argv[0]}, func(spec hook.Spec, _ time.Time) (HookRun, error) {
		spec.Argv, spec.Env = argv, hook.Environ(os.Environ(), spec.Env...)
		return hook.Start(spec)
	})
	if err != nil {
		f.t.Error(err)
	}
	return r
}

func (f *lockFleet) status(name string) control.Gate {
	s, err := source{f.agents[name]}.Status(context.Background())
	if err != nil {
		f.t.Fatal(err)
	}
	return s.Gates[0]
}

// A protocol of which the agent knows nothing serves its callers, one at a time, and says what it alone has to say.
func TestAProtocolOfItsOwnServesCallers(t *testing.T) {
	notShort(t)
	f := startLockFleet(t, 8*time.Second)
	// Each takes the lock's place in the file system, and finds that nobody else has.
	place := filepath.Join(t.TempDir(), "taken")
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "b", "c", "a"} {
		wg.Go(func() {
			if r := f.exec(name, "/bin/sh", "-c", "mkdir "+place+" && sleep 0.05 && rmdir "+place); r.Err != nil {
				t.Errorf("%s: %v", name, r.Err)
			}
		})
	}
	wg.Wait()
	s := f.status("b")
	served := slices.IndexFunc(s.Facts, func(f control.Fact) bool { return f.Name == "served" && f.Count == 2 })
	server := slices.IndexFunc(s.Facts, func(f control.Fact) bool { return f.Name == "server" && f.MemberName == "a" })
	if served < 0 || server < 0 || s.Policy != "centrallock" || s.Runs != 0 || s.Commands != 2 {
		t.Errorf("b's status is %+v", s)
	}
	if s := f.status("a"); s.Notes["lent"] != 4 {
		t.Errorf("a has told %v", s.Notes)
	}
}

// A grant that nobody extends any more has an end, and the guard of the command keeps to it.
func TestTheGuardEndsACommandWithItsGrant(t *testing.T) {
	f := startLockFleet(t, 2*time.Second)
	ended := make(chan hook.Result, 1)
	go func() { ended <- f.exec("b", "/bin/sleep", "3600") }()
	for f.status("b").State != "running" && len(ended) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	f.stop["a"]()
	if r := <-ended; !r.Expired {
		t.Errorf("%+v", r)
	}
	if f.status("b").Holding {
		t.Error("it holds the lock still")
	}
}

package agent

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/policytest"
	"github.com/wanderd/wanderd/wire"
)

// lockFleet is three agents on loopback with the smallest strict gate.
type lockFleet struct {
	t      *testing.T
	agents map[string]*Agent
	stop   map[string]func()
}

func startLockFleet(t *testing.T) *lockFleet {
	t.Helper()
	f := &lockFleet{t: t, agents: map[string]*Agent{}, stop: map[string]func(){}}
	var join []string
	names := []string{"a", "b", "c"}
	for _, name := range names {
		dir := t.TempDir()
		a, err := New(Config{
			Name: name, Bind: netip.MustParseAddrPort("127.0.0.1:0"), Join: join, StateDir: dir,
			Socket: filepath.Join(dir, "s"), Secret: &wire.Secret{1}, StopTimeout: time.Second, Log: zerolog.Nop(),
			Gates: []gate.Config{{
				Name: "default", HookTimeout: time.Hour, Roster: names,
				KillAfter: 200 * time.Millisecond, Protocol: policytest.Settings{
					Lease: 3 * time.Second, MostLease: 3 * time.Second, KillAfter: 200 * time.Millisecond,
					Margin: 100 * time.Millisecond,
					Rho:    0.01, Patience: 200 * time.Millisecond,
				},
			}},
		})
		if err != nil {
			t.Fatal(err)
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
	r, err := f.agents[name].exec(context.Background(), control.ExecRequest{Command: argv[0]},
		func(spec hook.Spec, _ time.Time) (gate.HookRun, error) {
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

// A protocol that the agent does not know serves its callers, one at a time, and reports what only this protocol has to
// report.
func TestAProtocolOfItsOwnServesCallers(t *testing.T) {
	deep.AtNight(t, "a long time of many agents")
	f := startLockFleet(t)
	// Each caller takes the lock's place in the file system, and finds that no other has it.
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
	if s := f.status("b"); s.Policy != "strictlock" || s.Runs != 0 || s.Commands != 2 {
		t.Errorf("b's status is %+v", s)
	}
}

// A grant that is no longer extended has an end, and the guard of the command keeps to it.
func TestTheGuardEndsACommandWithItsGrant(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	f := startLockFleet(t)
	ended := make(chan hook.Result, 1)
	go func() { ended <- f.exec("b", "/bin/sleep", "3600") }()
	for f.status("b").State != "running" && len(ended) == 0 {
		time.Sleep(10 * time.Millisecond)
	}
	f.stop["a"]()
	f.stop["c"]()
	if r := <-ended; !r.Expired {
		t.Errorf("%+v", r)
	}
	if s := f.status("b"); s.Running {
		t.Errorf("it runs still: %+v", s)
	}
}

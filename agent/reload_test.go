package agent

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
)

// reloads makes an agent read a configuration that the test changes.
func (w *world) reloads(name string, change func(*Config) error) (control.Reloaded, error) {
	a := w.agents[name].Agent
	a.reloading.Lock()
	a.cfg.Reread = func() (Rereading, error) {
		next := a.cfg
		next.Gates = []gate.Config{w.gateOf(name)}
		err := change(&next)
		return Rereading{Config: next, Accept: func() {}}, err
	}
	a.reloading.Unlock()
	return source{a}.Reload(context.Background())
}

func TestAReloadChangesConstantsAndKeepsTokenRunAndCallers(t *testing.T) {
	gate := testGate()
	gate.MinInterval = time.Hour
	inWorld(t, gate, func(w *world) {
		begun := time.Now()
		w.start("a", AloneRun)
		w.until("the first run", time.Minute, func() bool { return len(w.runs(begun)) == 1 })
		before := gateOf(t, w, "a")
		w.gate.MinInterval, w.gate.HookTimeout = 10*time.Minute, 30*time.Minute
		if r, err := w.reloads("a", func(*Config) error { return nil }); err != nil || len(r.Restart) != 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		g := gateOf(t, w, "a")
		if !g.Running || !g.Holding || g.Token != before.Token || time.Duration(g.MinInterval) != 10*time.Minute {
			t.Errorf("after the reload: running %v, holding %v, min_interval %v", g.Running, g.Holding,
				time.Duration(g.MinInterval))
		}
		w.until("the next run", 11*time.Minute, func() bool { return len(w.runs(begun)) == 2 })
	})
}

func TestAWrongConfigurationChangesNothing(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.start("a", AloneRun)
		time.Sleep(10 * time.Second)
		before := gateOf(t, w, "a")
		r, err := w.reloads("a", func(c *Config) error {
			c.Gates[0].HookTimeout = time.Second
			return errors.New("wanderd.toml:3: it is wrong")
		})
		if err != nil || r.Problem != "wanderd.toml:3: it is wrong" {
			t.Fatalf("%+v, %v", r, err)
		}
		if g := gateOf(t, w, "a"); g.MinInterval != before.MinInterval {
			t.Errorf("it changes to %+v", g)
		}
		w.until("it has run again", 10*time.Minute, func() bool {
			return gateOf(t, w, "a").Runs > before.Runs && !gateOf(t, w, "a").Running
		})
		if g := gateOf(t, w, "a"); g.LastExit != control.ExitOK {
			t.Errorf("the hook takes %v, and has ended with %q", w.gate.Op, g.LastExit)
		}
	})
}

func TestConstantsThatCannotChangeAreNamedAndStay(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.start("a", AloneRun)
		time.Sleep(10 * time.Second)
		r, err := w.reloads("a", func(c *Config) error {
			w.gate.Skip *= 2
			c.Gates[0] = w.gate.config()
			return nil
		})
		if err != nil || len(r.Restart) != 1 || time.Duration(gateOf(t, w, "a").Skip) != time.Second {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

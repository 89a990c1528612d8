package agent

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/agent/hook"
)

// inStrictWorld runs a test in a world with a strict gate, whose roster all members have unless the test changes it.
func inStrictWorld(t *testing.T, scenario func(w *world), roster ...string) {
	t.Helper()
	inWorld(t, testGate(), func(w *world) {
		w.rosters = map[string][]string{}
		for name := range w.agents {
			w.rosters[name] = roster
		}
		scenario(w)
	})
}

// strict is the gate of an agent.
func (w *world) strict(name string) control.Gate {
	w.t.Helper()
	s, err := source{w.agents[name].Agent}.Status(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return s.Gates[0]
}

// participants are the agents that take part in the strict gate.
func (w *world) participants() (list []string) {
	for _, name := range w.names() {
		if w.agents[name].stop != nil && w.strict(name).State != control.Agreeing {
			list = append(list, name)
		}
	}
	return list
}

// runsOn runs a command on a host.
func (w *world) runsOn(name string) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r := w.agents[name]
	result, err := r.exec(ctx, control.ExecRequest{Command: "true"},
		func(spec hook.Spec, _ time.Time) (gate.HookRun, error) {
			spec.Argv, spec.Timeout = []string{"true"}, time.Minute
			return w.pretend(r, spec), nil
		})
	if err = cmp.Or(err, result.Err); err != nil {
		w.t.Errorf("%s: %v", name, err)
	}
}

// Until all members of a roster have been seen and agree, its gate stands still and names those for which it waits.
// Then it needs a majority, also after a restart.
func TestAStrictGateWaitsOnceForItsWholeRosterAndThenForAMajority(t *testing.T) {
	inStrictWorld(t, func(w *world) {
		w.start("a", AloneWait)
		w.start("b", AloneWait)
		time.Sleep(time.Minute)
		g := w.strict("a")
		if who := w.participants(); len(who) > 0 || !strings.Contains(g.NotRunning, "c was never seen") {
			t.Errorf("%v take part without c; a says %q", who, g.NotRunning)
		}
		if v := g.Roster; len(v) != 3 || !v[0].Self || v[1].Member != w.agents["b"].self.String() ||
			v[2] != (control.Voter{Name: "c"}) {
			t.Errorf("a's roster is %+v", v)
		}
		w.start("c", AloneWait)
		w.until("all take part", time.Minute, func() bool { return len(w.participants()) == 3 })
		w.runsOn("b")
		if g := w.strict("c"); !g.Roster[0].Agrees || !g.Roster[0].Live {
			t.Errorf("c's roster is %+v", g.Roster)
		}
		for _, name := range []string{"a", "b", "c"} {
			w.crash(name)
		}
		w.start("a", AloneWait)
		w.start("b", AloneWait)
		time.Sleep(time.Second)
		if who := w.participants(); len(who) != 2 {
			t.Errorf("%v take part after the restart", who)
		}
		w.runsOn("a")
	}, "a", "b", "c")
}

// Demands that were there before the gate took part are served when it does.
func TestACallerWaitsForTheRosterToo(t *testing.T) {
	inStrictWorld(t, func(w *world) {
		w.start("a", AloneWait)
		ended := make(chan struct{})
		go func() {
			w.runsOn("a")
			close(ended)
		}()
		time.Sleep(20 * time.Second)
		w.start("b", AloneWait)
		w.start("c", AloneWait)
		<-ended
	}, "a", "b", "c")
}

// Two hosts are called b. A member that sees both binds neither.
func TestTwoMembersWithOneNameAreNotInTheRoster(t *testing.T) {
	inStrictWorld(t, func(w *world) {
		w.agents["d"].called = "b"
		w.start("b", AloneWait)
		w.start("d", AloneWait)
		time.Sleep(10 * time.Second)
		w.start("a", AloneWait)
		w.start("c", AloneWait)
		time.Sleep(time.Minute)
		if who := w.participants(); len(who) > 0 {
			t.Errorf("%v take part", who)
		}
		if why := w.strict("a").NotRunning; !strings.Contains(why, "two members are called b") {
			t.Errorf("a says %q", why)
		}
	}, "a", "b", "c")
}

// Members that have seen different hosts called b do not agree, although each has a key for every name: {a, b} and {c,
// b} would be two majorities.
func TestMembersThatHaveBoundDifferentKeysDoNotTakePart(t *testing.T) {
	inStrictWorld(t, func(w *world) {
		w.agents["d"].called = "b"
		w.start("a", AloneWait)
		w.start("b", AloneWait)
		time.Sleep(time.Minute)
		w.crash("b")
		time.Sleep(10 * time.Minute)
		w.start("c", AloneWait)
		w.start("d", AloneWait)
		time.Sleep(time.Minute)
		w.start("b", AloneWait)
		time.Sleep(10 * time.Minute)
		if who := w.participants(); len(who) > 0 {
			t.Errorf("%v take part", who)
		}
		if why := w.strict("a").NotRunning; !strings.Contains(why, "is not the b of the roster") {
			t.Errorf("a says %q", why)
		}
		if why := w.strict("a").NotRunning; !strings.Contains(why, "c at 10.0.0.3:7946 has another roster") {
			t.Errorf("a says %q", why)
		}
	}, "a", "b", "c")
}

// A host that has lost its state has another key. It does not count as the former member, but does not hinder the
// others.
func TestAHostThatHasLostItsKeyDoesNotCount(t *testing.T) {
	inStrictWorld(t, func(w *world) {
		w.agents["d"].called = "c"
		for _, name := range []string{"a", "b", "c"} {
			w.start(name, AloneWait)
		}
		w.until("all take part", time.Minute, func() bool { return len(w.participants()) == 3 })
		w.crash("c")
		w.start("d", AloneWait)
		time.Sleep(time.Minute)
		if who := w.participants(); !slices.Equal(who, []string{"a", "b"}) {
			t.Errorf("%v take part", who)
		}
		w.runsOn("b")
		s, err := source{w.agents["a"].Agent}.Status(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(s.Warnings, func(w control.Warning) bool {
			return strings.Contains(w.Text, "is not the c of the roster")
		}) {
			t.Errorf("a warns of %+v", s.Warnings)
		}
	}, "a", "b", "c")
}

// A copy of a state directory remembers promises that the original goes on to change.
func TestACopiedStateDirectoryTakesNoPartInAStrictGate(t *testing.T) {
	inStrictWorld(t, func(w *world) {
		for _, name := range []string{"a", "b", "c"} {
			w.start(name, AloneWait)
		}
		w.until("all take part", time.Minute, func() bool { return len(w.participants()) == 3 })
		w.crash("a")
		w.agents["d"].called = "a"
		w.copyState("a", "d")
		w.start("d", AloneWait)
		time.Sleep(time.Minute)
		if g := w.strict("d"); g.State != control.Agreeing || !strings.Contains(g.NotRunning, "was moved or copied") {
			t.Errorf("the copy is %s: %s", g.State, g.NotRunning)
		}
	}, "a", "b", "c")
}

// A roster grows and shrinks by one name at a time. Each change waits for all of the new roster, and then a majority of
// that is enough.
func TestARosterIsChangedByRestartsWithAnotherOne(t *testing.T) {
	inStrictWorld(t, func(w *world) {
		w.strictly = strictGates()["tree"]
		running := []string{"a", "b", "c"}
		for _, name := range running {
			w.start(name, AloneWait)
		}
		w.until("all take part", time.Minute, func() bool { return len(w.participants()) == 3 })
		w.runsOn("a")
		for _, roster := range [][]string{{"a", "b", "c", "d"}, {"a", "b", "d"}, {"a", "d"}, {"a", "c", "d"}} {
			for _, name := range running {
				if err := w.leave(name); err != nil {
					t.Fatal(err)
				}
			}
			running = roster
			for _, name := range w.names() {
				w.rosters[name] = roster
			}
			for i, name := range roster {
				if who := w.participants(); len(who) > 0 {
					t.Errorf("%v take part before all of %v have agreed", who, roster)
				}
				w.start(name, AloneWait)
				time.Sleep(time.Duration(i) * time.Second)
			}
			w.until("all of the new roster take part", time.Minute, func() bool {
				return len(w.participants()) == len(roster)
			})
			w.runsOn(roster[1])
		}
	}, "a", "b", "c")
}

package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/membership"
	"github.com/wanderd/wanderd/policy/downcount"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/wire"
)

// forget asks an agent to forget a member.
func (w *world) forget(at, name string) (control.Forgot, error) {
	return source{w.agents[at].Agent}.Forget(context.Background(), control.Forget{Name: name, User: "alice"})
}

// lists reports whether an agent lists a member, and whether it lists it as forgotten.
func (w *world) lists(at, name string) (known, forgotten bool) {
	w.t.Helper()
	all, err := source{w.agents[at].Agent}.Members(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	for _, m := range all.Members {
		known = known || m.Name == name
	}
	for _, f := range all.Forgotten {
		forgotten = forgotten || f.Name == name
	}
	return known, forgotten
}

// untilForgotten waits until these agents list a member as forgotten only.
func (w *world) untilForgotten(name string, by ...string) {
	w.t.Helper()
	w.until("it is forgotten", time.Minute, func() bool {
		for _, at := range by {
			if known, forgotten := w.lists(at, name); known || !forgotten {
				return false
			}
		}
		return true
	})
}

// "It leaves every count", on all hosts, and "it counts again when it is back".
func TestAForgottenMemberIsInNoCountUntilItIsBack(t *testing.T) {
	deep.AtNight(t, "it takes many seconds")
	gate := testGate()
	gate.Backups = 2
	inWorld(t, gate, func(w *world) {
		w.maxDown = downcount.Limit{Count: 1}
		w.startAll()
		time.Sleep(5 * time.Minute)
		w.crash("c")
		time.Sleep(time.Minute)
		known := time.Now()
		time.Sleep(5 * time.Minute)
		if n := len(w.runs(known)); n > 0 {
			t.Fatalf("%d runs while c is down", n)
		}
		done, err := w.forget("a", "c")
		if err != nil || len(done.Members) != 1 || done.Members[0] != w.agents["c"].Member().String() {
			t.Fatalf("%+v, %v", done, err)
		}
		w.untilForgotten("c", "a", "b", "d", "e")
		all, _ := source{w.agents["a"].Agent}.Members(context.Background())
		status, err := source{w.agents["a"].Agent}.Status(context.Background())
		if err != nil || len(status.Forgotten) != 1 || status.Forgotten[0].Name != "c" {
			t.Errorf("the status: %+v, %v", status.Forgotten, err)
		}
		if f := all.Forgotten; len(f) != 1 || f[0].By != "alice@a" || time.Since(f[0].Since) > time.Minute {
			t.Errorf("%+v", f)
		}
		w.until("the others run", 5*time.Minute, func() bool { return len(w.runs(known)) >= 4 })

		w.start("c", AloneWait)
		w.until("it counts again", time.Minute, func() bool {
			for _, at := range w.names() {
				if known, forgotten := w.lists(at, "c"); !known || forgotten {
					return false
				}
			}
			return true
		})
		w.crash("c")
		time.Sleep(time.Minute)
		known = time.Now()
		time.Sleep(5 * time.Minute)
		if n := len(w.runs(known)); n > 0 {
			t.Errorf("%d runs while c is down again", n)
		}
	})
}

// A member that is back may hear that it is forgotten before it has recalled what it knows of others. It says that it
// is back all the same.
func TestWhoIsBackSaysSoHoweverSoonItHearsThatItIsForgotten(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.startAll()
		time.Sleep(time.Minute)
		c := w.agents["c"].Agent
		err := do(context.Background(), c, func() error {
			c.forgotten.directAbout(membership.Broadcast{
				Member: c.self, Name: "c", Directive: c.forgotten.nextAbout(c.self, wire.ForEver),
			})
			c.forgotten.recall()
			c.onNews()
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		w.until("it counts again", time.Minute, func() bool {
			for _, at := range w.names() {
				if known, forgotten := w.lists(at, "c"); !known || forgotten {
					return false
				}
			}
			return true
		})
	})
}

// "Only the dead are forgotten": a member that is alive, or that nobody knows, is not. Whoever is forgotten is not
// forgotten again.
func TestOnlyAMemberThatIsGoneIsForgotten(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.startAll()
		time.Sleep(time.Minute)
		for name, want := range map[string]string{
			"b": `"b" is alive, and only a member that is gone can be forgotten: stop its agent first`,
			"a": `"a" is alive`, "z": `no member "z" is gone, as far as this host knows`,
		} {
			if _, err := w.forget("a", name); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := w.leave("b"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Second)
		for i, want := range []bool{false, true} {
			if done, err := w.forget("a", "b"); err != nil || done.Already != want {
				t.Errorf("%d: %+v, %v", i, done, err)
			}
		}
	})
}

// "It is durable, and given to members that come later": one that was away when the directive was given, and all of
// them after they were down together.
func TestWhoIsForgottenStaysSoAfterRestarts(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.startAll()
		time.Sleep(time.Minute)
		w.crash("c")
		w.crash("d")
		time.Sleep(time.Minute)
		if _, err := w.forget("a", "c"); err != nil {
			t.Fatal(err)
		}
		w.start("d", AloneWait)
		w.untilForgotten("c", "a", "b", "d", "e")
		time.Sleep(2 * rememberEvery)
		rest := []string{"a", "b", "d", "e"}
		for _, name := range rest {
			w.crash(name)
		}
		time.Sleep(time.Minute)
		for _, name := range rest {
			w.start(name, AloneWait)
		}
		w.untilForgotten("c", rest...)
		w.start("c", AloneWait)
		w.until("it counts again", time.Minute, func() bool {
			known, forgotten := w.lists("e", "c")
			return known && !forgotten
		})
	})
}

// In a strict gate the member leaves the count of the roster, whether it has left or failed.
func TestAForgottenMemberLeavesTheCountOfTheRoster(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	inRebootingWorldWith(t, testGate(), time.Hour, func(w *world) {
		s := w.strictly.(strict.Settings)
		s.MinInterval, s.Keep = time.Minute, 0
		w.strictly, w.maxDown = s, downcount.Limit{Count: 1}
		w.keep = time.Nanosecond
		w.restart(threeHosts()...)
		begun := time.Now()
		w.until("all run", 5*time.Minute, func() bool { return len(w.runs(begun)) >= 3 })
		if err := w.leave("b"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour) // Nobody lists it any longer.
		known := time.Now()
		time.Sleep(5 * time.Minute)
		if n := len(w.runs(known)); n > 0 {
			t.Fatalf("%d runs while b is down", n)
		}
		if _, err := w.forget("a", "b"); err != nil {
			t.Fatal(err)
		}
		w.until("the others run", 5*time.Minute, func() bool { return len(w.runs(known)) >= 2 })
		w.start("b", AloneWait)
		w.until("it counts again", time.Minute, func() bool { _, forgotten := w.lists("a", "b"); return !forgotten })
	})
}

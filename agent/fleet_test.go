package agent

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

// fleet asks for the status of all members from one of them.
func (w *world) fleet(from string) control.Fleet {
	w.t.Helper()
	f, err := source{w.agents[from].Agent}.Fleet(context.Background())
	if err != nil {
		w.t.Fatal(err)
	}
	return f
}

// Any host can report who is there, who runs now, and what each has run.
func TestEveryHostTellsOfTheWholeFleet(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.startAll()
		for range 3 {
			runner := w.untilRuns(5 * time.Minute)
			for _, from := range w.names() {
				f := w.fleet(from)
				if len(f.Members) != 5 || len(f.Tokens) != 1 {
					t.Fatalf("%s: %+v", from, f)
				}
				for _, m := range f.Members {
					if m.Missing != "" || m.Status.Name != m.Name || m.Self != (m.Name == from) ||
						m.Status.Gates[0].Running != (m.Name == runner) {
						t.Errorf("%s says of %s: %s %+v", from, m.Name, m.Missing, m.Status)
					}
				}
				if now := f.Tokens[0]; now.Name != runner || !now.Running || now.Missing != "" ||
					now.RunningSince.After(time.Now()) {
					t.Errorf("%s runs, and %s says %+v", runner, from, now)
				}
				if now, err := (source{w.agents[from].Agent}).Now(context.Background()); err != nil ||
					now.Tokens[0].Name != runner || !now.Tokens[0].Running {
					t.Errorf("%s runs, and %s says %+v, %v", runner, from, now, err)
				}
			}
			w.until("its end", time.Minute, func() bool {
				return read(w, func() bool { return w.agents[runner].running == 0 })
			})
		}
		all, err := source{w.agents["a"].Agent}.FleetHistory(context.Background(), control.Which{})
		if err != nil || len(all.Members) != 5 {
			t.Fatalf("%+v, %v", all, err)
		}
		runs := 0
		for _, m := range all.Members {
			if m.Missing != "" {
				t.Errorf("%s: %s", m.Name, m.Missing)
				continue
			}
			runs += len(m.History.Gates[0].Runs)
		}
		if want := len(w.runs(time.Time{})); runs != want {
			t.Errorf("%d runs in all histories, want %d", runs, want)
		}
	})
}

// A member that cannot be reached is named, within two seconds; and so is the holder of a token that no member reports.
func TestAMemberThatDoesNotAnswerIsNamed(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.startAll()
		runner := w.untilRuns(5 * time.Minute)
		from := "a"
		if runner == from {
			from = "b"
		}
		var others []netip.AddrPort
		for _, name := range w.names() {
			if name != runner {
				others = append(others, w.agents[name].addr)
			}
		}
		w.net.Partition([]netip.AddrPort{w.agents[runner].addr}, others)
		begun := time.Now()
		f := w.fleet(from)
		if took := time.Since(begun); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
		for _, m := range f.Members {
			if (m.Missing != "") != (m.Name == runner) {
				t.Errorf("%s: %q", m.Name, m.Missing)
			}
		}
	})
}

package agent

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/guardian"
)

// watchedGate is a gate with guardians, whose members are always due.
func watchedGate() soft {
	gate := testGate()
	gate.Backups, gate.MinInterval, gate.MaxInterval = 2, 5*time.Second, time.Hour
	return gate
}

// An agent is killed during its hook, and the hook ignores SIGTERM. When the hook is gone its guard reports that, and
// the next hook starts on another member without waiting for a silence.
func TestTheNextHookStartsWhenTheHookOfADeadAgentIsGone(t *testing.T) {
	deep.Only(t, "it takes seconds, and many under the race detector")
	inWorld(t, watchedGate(), func(w *world) {
		w.startAll()
		time.Sleep(5 * time.Minute)
		for range 10 {
			holder := w.untilStarts(time.Minute)
			time.Sleep(w.gate.Op / 2)
			crash := time.Now()
			w.crash(holder)
			time.Sleep(w.gate.Skip)
			runs := w.runs(crash)
			if len(runs) == 0 {
				t.Fatal("nobody runs")
			}
			grace := w.gate.OrphanGrace()
			if after := runs[0].At.Sub(crash); after < grace || after > grace+50*time.Millisecond {
				t.Errorf("the next hook starts after %v, that of the dead agent ended after %v", after, grace)
			}
			if d := w.overlap(crash.Add(-w.gate.Op)); d > 0 {
				t.Errorf("two at once for %v", d)
			}
			w.start(holder, AloneWait)
			time.Sleep(time.Minute)
		}
		if n := w.count(guardian.NoteSuspected, time.Time{}); n > 0 {
			t.Errorf("%d times somebody waited for a silence", n)
		}
	})
}

// A guardian leaves while the hook runs: the hook's guard learns of its replacement.
func TestTheGuardOfAHookIsToldOfNewGuardians(t *testing.T) {
	gate := watchedGate()
	gate.Op = 10 * time.Minute
	gate.HookTimeout = time.Hour
	inWorld(t, gate, func(w *world) {
		w.startAll()
		holder := w.untilRuns(time.Hour)
		time.Sleep(time.Minute)
		for _, id := range w.agents[holder].guardians(w) {
			i := slices.IndexFunc(w.names(), func(name string) bool { return w.agents[name].addr.String() == id })
			w.crash(w.names()[i])
		}
		time.Sleep(time.Minute)
		crash := time.Now()
		w.crash(holder)
		time.Sleep(gate.Skip / 2)
		if n := len(w.runs(crash)); n != 1 {
			t.Errorf("%d hooks start", n)
		}
	})
}

// guardians returns the addresses to which the guard of an agent's hook would send.
func (r *resident) guardians(w *world) (to []string) {
	p := read(w, func() *pretendRun { return r.hook })
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, word := range p.words {
		to = append(to, word.To.String())
	}
	return to
}

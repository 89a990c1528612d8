package agent

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/policy/wander"
)

func (w *world) renew(name string) (control.Renewed, error) {
	return source{w.agents[name].Agent}.Renew(context.Background(), control.Renew{})
}

// All members have just run under the lost token. An operator need not wait for max_interval.
func TestAnOperatorRenewsALostToken(t *testing.T) {
	for _, backups := range []int{0, 1} {
		gate := testGate()
		gate.MinInterval, gate.Backups = 24*time.Hour, backups
		inWorld(t, gate, func(w *world) {
			w.startAll()
			w.until("all have run", 2*time.Minute, func() bool { return len(w.runs(time.Time{})) == len(w.names()) })
			for _, name := range w.names() {
				if done, err := w.renew(name); err == nil ||
					!strings.Contains(err.Error(), "has its token, or may have it: ") {
					t.Errorf("%s makes a second token: %+v, %v", name, done, err)
				}
			}
			// The holder and its guardians lose their power while the holder runs, and so do others: the members that
			// are left are no majority, which would replace the token by itself.
			if _, err := (source{w.agents["c"].Agent}).RunNow(context.Background(), control.RunNow{}); err != nil {
				t.Fatal(err)
			}
			holder := w.untilRuns(time.Minute)
			s := gateOf(t, w, holder)
			var gone []string
			for _, g := range s.Guardians {
				gone = append(gone, g.Name)
			}
			gone = append(gone, holder)
			for _, name := range w.names() {
				if 2*len(gone) <= len(w.names()) && !slices.Contains(gone, name) {
					gone = append(gone, name)
				}
			}
			for _, name := range gone {
				w.crash(name)
			}
			time.Sleep(time.Minute)
			asks := w.names()[slices.IndexFunc(w.names(), func(name string) bool {
				return !slices.Contains(gone, name)
			})]
			renewed := time.Now()
			if done, err := w.renew(asks); err != nil || done.Gate != "default" || !slices.Equal(done.Slots, []int{0}) {
				t.Fatalf("%s: %+v, %v", asks, done, err)
			}
			for _, name := range w.names() {
				if slices.Contains(gone, name) {
					continue
				}
				begun := time.Now()
				end, err := source{w.agents[name].Agent}.RunNow(context.Background(), control.RunNow{Wait: true})
				if took := time.Since(begun); err != nil || end.Exit != 0 || took > 30*time.Second {
					t.Errorf("%s: a run took %v: %+v, %v", name, took, end, err)
				}
				if _, err := w.renew(name); err == nil {
					t.Errorf("%s makes another token", name)
				}
			}
			if n, lost := w.tokens(renewed), w.count(wander.NoteRemoved, renewed); n != 1 || lost != 0 {
				t.Errorf("%d tokens, %d removed", n, lost)
			}
		})
	}
}

// A member that is there but does not answer may have the token.
func TestNoTokenIsRenewedWhileAMemberDoesNotAnswer(t *testing.T) {
	inWorld(t, testGate(), func(w *world) {
		w.takes = 30 * time.Second
		w.startAll()
		runner := w.untilRuns(5 * time.Minute)
		time.Sleep(15 * time.Second)
		asks := w.names()[slices.IndexFunc(w.names(), func(name string) bool { return name != runner })]
		var others []netip.AddrPort
		for _, name := range w.names() {
			if name != runner {
				others = append(others, w.agents[name].addr)
			}
		}
		w.net.Partition([]netip.AddrPort{w.agents[runner].addr}, others)
		if done, err := w.renew(asks); err == nil ||
			!strings.Contains(err.Error(), runner+" did not answer, and may hold the token") {
			t.Errorf("%+v, %v", done, err)
		}
	})
}

func TestAStrictGateNeedsNoNewToken(t *testing.T) {
	inStrictWorld(t, func(w *world) {
		for _, name := range []string{"a", "b", "c"} {
			w.start(name, AloneWait)
		}
		w.until("all take part", time.Minute, func() bool { return len(w.participants()) == 3 })
		if done, err := w.renew("a"); err == nil || !strings.Contains(err.Error(), `gate "default" is strict: its `+
			`members replace a lost token by themselves`) {
			t.Errorf("%+v, %v", done, err)
		}
	}, "a", "b", "c")
}

package agent

import (
	"slices"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/gate"
	"github.com/wanderd/wanderd/lab/deep"
	"github.com/wanderd/wanderd/policy/stages"
	"github.com/wanderd/wanderd/policy/wander"
	"github.com/wanderd/wanderd/policy/window"
)

// What forbids a run counts until it holds all its gates: that may be long after its own token has come.
func TestARunDoesNotStartThatWasForbiddenWhileItWaitedForAGate(t *testing.T) {
	deep.Only(t, "it takes many seconds")
	opens, err := window.Parse("00:00-00:40", func(string) (*time.Location, error) { return time.UTC, nil })
	if err != nil {
		t.Fatal(err)
	}
	for why, forbid := range map[string]func(w *world){
		"a pause": func(w *world) {
			w.giveDirective("c", control.Directive{Gate: "upgrade", Pause: true, For: control.Duration(2 * time.Hour)})
		},
		"a pause of the other gate": func(w *world) {
			w.giveDirective("c", control.Directive{Gate: "backup", Pause: true, For: control.Duration(2 * time.Hour)})
		},
		"too many down":     func(w *world) { w.crash("d") },
		"the window closes": func(*world) { time.Sleep(time.Until(time.Date(2000, 1, 1, 0, 41, 0, 0, time.UTC))) },
		"nothing":           func(*world) {},
	} {
		t.Run(why, func(t *testing.T) {
			if why != "a pause" && why != "nothing" {
				deep.AtNight(t, "some seconds each")
			}
			u := upgrades(1, "backup")
			u.MaxDown.Count, u.WithWait = 1, time.Hour
			p := u.Protocol.(wander.Settings)
			p.Windows = window.Set{opens}
			u.Protocol = p
			gates, alone := onAll("ab", u, commands("backup")), u
			alone.With = nil
			gates["c"] = []gate.Config{alone, commands("backup")}
			gates["d"] = gates["c"]
			inTogetherWorld(t, gates, func(w *world) {
				w.takes = time.Hour
				stop, _ := w.called("c", "backup")
				w.until("c runs", time.Minute, func() bool { return w.named("c", "backup").Running })
				w.until("a host waits with its token", 20*time.Minute, func() bool {
					return w.named("a", "upgrade").WaitsFor != "" || w.named("b", "upgrade").WaitsFor != ""
				})
				begun := time.Now()
				forbid(w)
				time.Sleep(10 * time.Second)
				w.set(func() { w.takes = 0 })
				stop()
				time.Sleep(time.Minute)
				if ran := w.ranUnder(begun); (len(ran) > 0) != (why == "nothing") {
					t.Errorf("%v", ran)
				}
			})
		})
	}
}

// A host of a later stage that has its token, and takes other gates, is not due any more. Nobody holds it up for that.
func TestHostsOfALaterStageTakeOtherGates(t *testing.T) {
	u := upgrades(1, "backup")
	u.Stages = stages.Config{First: []string{"a"}, Wait: time.Hour}
	inTogetherWorld(t, onAll("abc", u, commands("backup")), func(w *world) {
		w.until("all have run", 20*time.Minute, func() bool {
			ran := w.ranUnder(time.Time{})
			return slices.Contains(ran, "b: backup upgrade") && slices.Contains(ran, "c: backup upgrade")
		})
		if first := w.ranUnder(time.Time{})[0]; first != "a: backup upgrade" {
			t.Errorf("first runs %s", first)
		}
	})
}

package follow

import (
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

// All views show the same of a gate: whose run has failed last, who runs, who is due next, and who does not answer.
func TestRowsAreWhatAllViewsShow(t *testing.T) {
	now := time.Date(2026, 2, 3, 12, 0, 0, 0, time.UTC)
	member := func(name string, g *control.Gate) control.FleetMember {
		m := control.FleetMember{Member: control.Member{Name: name, Member: name}, Missing: "did not answer in time"}
		if g != nil {
			g.Name = "sync"
			m.Missing, m.Status = "", &control.Status{Gates: []control.Gate{{Name: "other"}, *g}}
		}
		return m
	}
	s := Snapshot{
		Fleet: &control.Fleet{Members: []control.FleetMember{
			member("a", &control.Gate{
				LastExit: "exit status 2", LastRun: now.Add(-time.Hour),
				NextRun: now.Add(time.Minute), Because: control.BecauseNotDue,
			}),
			member("b", &control.Gate{
				LastExit: control.ExitNotNow, LastRun: now.Add(-time.Minute), Runs: 2, Commands: 1,
			}),
			member("c", nil),
			member("d", &control.Gate{
				LastExit: "exit status 1", LastRun: now.Add(-2 * time.Hour), Because: control.BecausePaused,
			}),
		}},
		Tokens: []Token{
			{Holder: control.Holder{Gate: "sync", Member: "b", Running: true, RunningSince: now}},
			{Holder: control.Holder{Gate: "sync", Slot: 1, Member: "d", Missing: "gone"}},
			{Holder: control.Holder{Gate: "other", Member: "a"}},
		},
	}
	rows := s.Rows("sync")
	if len(rows) != 4 || Silent(s.Fleet) != 1 || rows[2].Missing == "" || rows[2].Gate != nil {
		t.Fatalf("%+v", rows)
	}
	if b := rows[1]; !b.Holding || !b.Running || !b.RunningSince.Equal(now) || b.Failed ||
		b.Result != control.ExitNotNow || b.Runs != 3 {
		t.Errorf("%+v", b)
	}
	if rows[0].Holding || rows[3].Holding {
		t.Errorf("a token of another gate, or one that is missing, is held: %+v", rows)
	}
	if last := LastFailure(rows); last == nil || last.Name != "a" {
		t.Errorf("failed last: %+v", last)
	}
	waiting, first := Next(rows, now)
	if len(waiting) != 0 || first == nil || first.Name != "a" { // b runs, as its token shows
		t.Errorf("waiting: %v, first: %+v", waiting, first)
	}
	if p := PageOf(s.Fleet); p.Members != 4 || p.Silent != 1 || len(p.Gates) != 2 || p.Gates[1].Name != "sync" ||
		p.Gates[1].Rows[1].Holding {
		t.Errorf("%+v", p)
	}
}

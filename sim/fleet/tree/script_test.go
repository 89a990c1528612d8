package tree

import (
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/script"
	"github.com/wanderd/wanderd/sim/trace"
	"github.com/wanderd/wanderd/wire"
)

// A message takes 10 ms, a section 1 s unless told otherwise; CommitTimer and TokenTimer are 4 s, ReconnectionTimer is
// 1 s, and an answer takes 100 ms at most. Besides the commands of all scenarios there are
//
//	sites members=4 backups=2 section=1s   start sites a, b, c…; a has the token
//	want a [b …] [together]     one after the other, 50 ms apart, or all at once
//	lose kind=REQ from=b        let the network lose the next message of a kind
func TestScriptedScenarios(t *testing.T) {
	script.Run(t, func(t *testing.T, s *script.Stage, d *datadriven.TestData) bool {
		t.Helper()
		switch d.Cmd {
		case "sites":
			begin(t, s, d)
		case "want":
			for _, a := range d.CmdArgs {
				if a.Key != "together" {
					s.Cluster.Want(s.Member(t, d, a.Key))
				}
				if !d.HasArg("together") {
					s.Pass(t, d, 50*time.Millisecond)
				}
			}
		case "lose":
			loseOne(t, s, d)
		default:
			return false
		}
		return true
	})
}

func begin(t *testing.T, s *script.Stage, d *datadriven.TestData) {
	t.Helper()
	scenario := Scenario{
		Members: 4, Backups: 2, Section: script.Span(t, d, "section", time.Second),
		Network: sim.Network{Latency: 10 * time.Millisecond, Encode: true},
		Timers: tree.Timers{
			Commit: 4 * time.Second, Token: 4 * time.Second, Reconnection: time.Second,
			Liveness: 100 * time.Millisecond,
		},
	}
	d.MaybeScanArgs(t, "members", &scenario.Members)
	d.MaybeScanArgs(t, "backups", &scenario.Backups)
	k := &checker{}
	k.world = NewWorld(scenario, k, trace.NewTrace(&s.Trace, trace.Words{}))
	s.Cluster = k.world.cluster
	s.Cluster.Boot()
	s.Pass(t, d, 0)
	s.Trace.Reset()
}

func loseOne(t *testing.T, s *script.Stage, d *datadriven.TestData) {
	t.Helper()
	var kind, from string
	d.ScanArgs(t, "kind", &kind)
	d.ScanArgs(t, "from", &from)
	lost := false
	s.Cluster.Intercept(func(m *wire.Message) sim.Fate {
		if lost || tree.Descriptor().Kinds.Of(m.Kind).Name != kind || sim.MemberName(sim.IndexOf(m.From)) != from {
			return sim.Fate{}
		}
		lost = true
		return sim.Fate{Lose: true}
	})
}

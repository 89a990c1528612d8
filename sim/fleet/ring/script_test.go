package ring

import (
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/script"
	"github.com/wanderd/wanderd/sim/trace"
	"github.com/wanderd/wanderd/wire"
)

// A message takes 10 ms, a section 50 ms; member a has the token first, which goes to b, c and so on. Besides the
// commands of all scenarios there are
//
//	ring q [udp] [members=4]    start the members of a ring, always, martin, q or d
//	lose kind=COMMIT            let the network lose the messages of a kind until time has passed
func TestScriptedScenarios(t *testing.T) {
	lost := ""
	script.Run(t, func(t *testing.T, s *script.Stage, d *datadriven.TestData) bool {
		t.Helper()
		switch d.Cmd {
		case "ring":
			begin(t, s, d)
			s.Cluster.Intercept(func(m *wire.Message) sim.Fate {
				return sim.Fate{Lose: ring.Descriptor().Kinds.Of(m.Kind).Name == lost}
			})
		case "lose":
			d.ScanArgs(t, "kind", &lost)
		case "run":
			s.Pass(t, d, script.Span(t, d, "for", 0))
			lost = ""
		default:
			return false
		}
		return true
	})
}

func begin(t *testing.T, s *script.Stage, d *datadriven.TestData) {
	t.Helper()
	scenario := Scenario{
		Seed: 1, Members: 4, Order: sim.InOrder, Backups: 1, Network: PaperLinks(10 * time.Millisecond),
		Membership: PerfectDetector(),
		Hook:       sim.Hook{Takes: 50 * time.Millisecond},
	}
	d.MaybeScanArgs(t, "members", &scenario.Members)
	for _, r := range ring.Requests() {
		if d.HasArg(r.String()) {
			scenario.Request = r
		}
	}
	if d.HasArg("udp") {
		scenario.Links, scenario.Network.FIFO = ring.UDP, false
	}
	scenario.Network.Encode = true
	s.Cluster = scenario.NewCluster(trace.NewTrace(&s.Trace, trace.Words{}))
	s.Cluster.Boot()
	s.Pass(t, d, time.Second)
	s.Trace.Reset()
}

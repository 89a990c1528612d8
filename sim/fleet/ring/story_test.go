package ring

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/wanderd/wanderd/policy/ring"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/tell"
	"github.com/wanderd/wanderd/wire"
)

// TestStories runs the scripts in testdata: each is one situation, and what it must lead to, message by message. With -rewrite the scripts
// are written anew from what happens. A message takes 10 ms, a section 50 ms; member a has the token first, which goes to b, c and so on.
//
//	ring q [udp] [members=4]    start the members of a ring, always, martin, q or d
//	want c [d …]                all at once
//	lose kind=COMMIT            let the network lose the messages of a kind until the end of this command
//	run for=200ms               let time pass
func TestStories(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			s := &script{}
			datadriven.RunTest(t, path, s.command)
		})
	}
}

// script is a ring that a story is told about.
type script struct {
	c     *sim.Cluster
	story bytes.Buffer
	// lost is the kind of message that the network loses.
	lost string
}

func (s *script) command(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	s.story.Reset()
	switch d.Cmd {
	case "ring":
		s.ring(t, d)
	case "want":
		for _, a := range d.CmdArgs {
			s.c.Want(int(a.Key[0] - 'a'))
		}
	case "lose":
		d.ScanArgs(t, "kind", &s.lost)
	case "run":
		var span string
		d.ScanArgs(t, "for", &span)
		passes, err := time.ParseDuration(span)
		if err == nil {
			err = s.c.Run(s.c.Now().Add(passes))
		}
		if err != nil {
			d.Fatalf(t, "%v", err)
		}
		s.lost = ""
	default:
		d.Fatalf(t, "no such command: %s", d.Cmd)
	}
	return s.story.String()
}

func (s *script) ring(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	scenario := Scenario{
		Seed: 1, Members: 4, Order: sim.InOrder, Backups: 1, Network: PaperLinks(10 * time.Millisecond), Membership: PerfectDetector(),
		Hook: sim.Hook{Takes: 50 * time.Millisecond},
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
	s.c = scenario.NewCluster(tell.NewTrace(&s.story, tell.Words{}))
	s.c.Intercept(func(m *wire.Message) sim.Fate { return sim.Fate{Lose: ring.Family().Kinds.Of(m.Kind).Name == s.lost} })
	s.c.Boot()
	if err := s.c.Run(s.c.Now().Add(time.Second)); err != nil {
		d.Fatalf(t, "%v", err)
	}
	s.story.Reset()
}

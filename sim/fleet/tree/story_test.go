package tree

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/wanderd/wanderd/policy/tree"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/tell"
	"github.com/wanderd/wanderd/wire"
)

// TestStories runs the scripts in testdata: each is one situation, and what it must lead to, message by message. With -rewrite the scripts
// are written anew from what happens; read the difference as you would read a change of the protocol. A message takes 10 ms, a section 1 s unless told otherwise;
// CommitTimer and TokenTimer are 4 s, ReconnectionTimer is 1 s, and an answer takes 100 ms at most.
//
// The commands:
//
//	sites members=4 backups=2 section=1s   start sites a, b, c…; a has the token
//	want a [b …] [together]     one after the other, 50 ms apart, or all at once
//	lose kind=REQ from=b        let the network lose the next message of a kind
//	crash c [d …]               at once
//	run for=5s                  let time pass
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

// script is a world that a story is told about.
type script struct {
	w     *World
	story bytes.Buffer
}

func (s *script) command(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	s.story.Reset()
	switch d.Cmd {
	case "sites":
		s.sites(t, d)
	case "want":
		for _, a := range d.CmdArgs {
			if a.Key != "together" {
				s.w.cluster.Want(s.site(t, d, a.Key))
			}
			if !d.HasArg("together") {
				s.run(t, d, 50*time.Millisecond)
			}
		}
	case "lose":
		var kind, from string
		d.ScanArgs(t, "kind", &kind)
		d.ScanArgs(t, "from", &from)
		lost := false
		s.w.cluster.Intercept(func(m *wire.Message) sim.Fate {
			if lost || tree.Kinds().Of(m.Kind).Name != kind || sim.MemberName(sim.IndexOf(m.From)) != from {
				return sim.Fate{}
			}
			lost = true
			return sim.Fate{Lose: true}
		})
	case "crash":
		for _, a := range d.CmdArgs {
			s.w.cluster.PowerCut(s.site(t, d, a.Key))
		}
	case "run":
		s.run(t, d, span(t, d, "for"))
	default:
		d.Fatalf(t, "no such command: %s", d.Cmd)
	}
	return s.story.String()
}

func (s *script) sites(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	scenario := Scenario{
		Members: 4, Backups: 2, Section: time.Second, Network: sim.Network{Latency: 10 * time.Millisecond, Encode: true},
		Timers: tree.Timers{
			Commit: 4 * time.Second, Token: 4 * time.Second, Reconnection: time.Second, Liveness: 100 * time.Millisecond,
		},
	}
	d.MaybeScanArgs(t, "members", &scenario.Members)
	d.MaybeScanArgs(t, "backups", &scenario.Backups)
	if d.HasArg("section") {
		scenario.Section = span(t, d, "section")
	}
	k := &checker{}
	s.w = NewWorld(scenario, k, tell.NewTrace(&s.story, tell.Words{}))
	k.world = s.w
	s.w.cluster.Boot()
	s.run(t, d, 0)
	s.story.Reset()
}

func span(t *testing.T, d *datadriven.TestData, name string) time.Duration {
	t.Helper()
	var text string
	d.ScanArgs(t, name, &text)
	length, err := time.ParseDuration(text)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return length
}

func (s *script) site(t *testing.T, d *datadriven.TestData, name string) int {
	t.Helper()
	for i := range s.w.machines {
		if sim.MemberName(i) == name {
			return i
		}
	}
	d.Fatalf(t, "no such site: %s", name)
	return 0
}

func (s *script) run(t *testing.T, d *datadriven.TestData, passes time.Duration) {
	t.Helper()
	if err := s.w.cluster.Run(s.w.cluster.Now().Add(passes)); err != nil {
		d.Fatalf(t, "%v\n%s", err, s.story.String())
	}
}

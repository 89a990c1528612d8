package check_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/check"
	"github.com/wanderd/wanderd/sim/trace"
)

// TestScriptedScenarios runs the scripts in testdata: each is one situation of a strict gate of three members, and what
// must follow from it, message by message. With -rewrite the scripts are rewritten from what happens; read the
// difference as you would read a change of the protocol. A message takes 10 ms, a command 20 s, a lease 8 s, of which
// the first has passed.
//
// The commands:
//
//	gate tree          start a, b and c; the gates are those of [gates]
//	want a             a caller at a waits for a run
//	kill a             a's agent; the guard of its command lives
//	run for=5s         let time pass
func TestScriptedScenarios(t *testing.T) {
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

// script is a gate of a scenario.
type script struct {
	c    *sim.Cluster
	text bytes.Buffer
}

func (s *script) command(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	member := func() int { return int(d.CmdArgs[0].Key[0] - 'a') }
	var passes time.Duration
	s.text.Reset()
	switch d.Cmd {
	case "gate":
		s.c = scripted(t, d.CmdArgs[0].Key, trace.NewTrace(&s.text, trace.Words{}))
		s.c.Boot()
		passes = 2 * lease
	case "want":
		s.c.Want(member())
	case "kill":
		s.c.Crash(member())
	case "run":
		var err error
		if passes, err = time.ParseDuration(d.CmdArgs[0].Vals[0]); err != nil {
			d.Fatalf(t, "%v", err)
		}
	default:
		d.Fatalf(t, "no such command: %s", d.Cmd)
	}
	if err := s.c.Run(s.c.Now().Add(passes)); err != nil {
		d.Fatalf(t, "%v\n%s", err, s.text.String())
	}
	if d.Cmd == "gate" {
		return ""
	}
	return s.text.String()
}

// scripted returns a gate of three members, in which nothing goes wrong by itself.
func scripted(t *testing.T, name string, told sim.Watcher) *sim.Cluster {
	t.Helper()
	gate := gates(rosterOf(t, 1, 3))[name]
	return sim.New(sim.Config{
		Seed: 1, Members: 3, Order: sim.InOrder, Machine: func(s sim.Env) policy.Machine {
			s.OnDemand = true
			return gate.Machine(s.Env)
		},
		Descriptor: gate.Descriptor(), Network: sim.Network{Latency: 10 * time.Millisecond, Encode: true},
		Membership: sim.Membership{
			GossipAfter: time.Second, DetectAfter: 5 * time.Second, RejoinAfter: 5 * time.Second,
		},
		Hook:        sim.Hook{Takes: 20 * time.Second},
		OrphanGrace: gate.OrphanGrace(),
		Watchers:    []sim.Watcher{check.NewHandoffChecker(), check.NewCustodyChecker(), newExclusionChecker(), told},
	})
}

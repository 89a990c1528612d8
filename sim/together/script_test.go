package together

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/script"
)

// TestScriptedScenarios runs the scripts in testdata: each is one situation of hosts with several gates, and what
// becomes of their runs. With -rewrite the scripts are rewritten from what happens; read the difference as you would
// read a change of a protocol. The tokens of all gates come when called.
//
//	hosts 3 with=0 plain=1 zones=0 per_zone=0 slots=1 op=10s min=10m with_wait=1m soak=0s
//	call a plain0 [plain1]      a caller on a asks for gates
//	pause upgrade · resume upgrade     an operator pauses a gate on all hosts, or resumes it
//	crash a · start a           the power of a fails, or it is back
//	run for=1m                  let time pass
func TestScriptedScenarios(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			var s scripted
			datadriven.RunTest(t, path, s.command)
		})
	}
}

type scripted struct {
	w    *world
	text bytes.Buffer
}

func (s *scripted) command(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	s.text.Reset()
	switch d.Cmd {
	case "hosts":
		s.begin(t, d)
	case "call":
		var gates []string
		for _, a := range d.CmdArgs[1:] {
			gates = append(gates, a.Key)
		}
		s.w.call(hostOf(d), gates...)
	case "pause", "resume":
		lasts := time.Duration(0)
		if d.Cmd == "pause" {
			lasts = time.Hour
		}
		g := s.w.gateNamed(0, d.CmdArgs[0].Key)
		s.w.standsAt(g).Give(0, lasts, false)
	case "crash":
		s.w.crash(hostOf(d), true)
	case "start":
		s.w.start(hostOf(d))
	case "run":
		if err := s.w.run(s.w.now.Add(script.Span(t, d, "for", time.Minute))); err != nil {
			d.Fatalf(t, "%v\n%s", err, s.text.String())
		}
	default:
		d.Fatalf(t, "no such command: %s", d.Cmd)
	}
	s.w.settle()
	return s.text.String()
}

func (s *scripted) begin(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	number := func(name string, otherwise int) int {
		d.MaybeScanArgs(t, name, &otherwise)
		return otherwise
	}
	var hosts int
	if _, err := fmt.Sscan(d.CmdArgs[0].Key, &hosts); err != nil {
		d.Fatalf(t, "%v", err)
	}
	s.w = newWorld(&Scenario{
		Seed: 1, Hosts: hosts, Called: true, Slots: number("slots", 1), With: number("with", 0),
		Plain: number("plain", 1), Zones: number("zones", 0), PerZone: number("per_zone", 0),
		WithWait: script.Span(t, d, "with_wait", time.Minute), Op: script.Span(t, d, "op", 10*time.Second),
		MinInterval: script.Span(t, d, "min", 10*time.Minute), Skip: time.Second, Soak: script.Span(t, d, "soak", 0),
		Network: sim.Network{Latency: time.Millisecond},
		Membership: sim.Membership{
			GossipAfter: 100 * time.Millisecond, DetectAfter: 3 * time.Second, RejoinAfter: 3 * time.Second,
		},
		Operators: sim.Operators{Scripted: true},
	})
	s.w.tell = func(j *job, what string) {
		at, who := time.Duration(s.w.now).Seconds(), strings.Join(j.named, "+")
		fmt.Fprintf(&s.text, "%9.3fs  %s  %-13s  %s\n", at, sim.MemberName(j.host), who, what)
	}
	s.w.boot()
}

func hostOf(d *datadriven.TestData) int { return int(d.CmdArgs[0].Key[0] - 'a') }

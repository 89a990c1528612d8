package kcopies_test

import (
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	protocol "github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/fleet/kcopies"
	"github.com/wanderd/wanderd/sim/script"
	"github.com/wanderd/wanderd/sim/trace"
	"github.com/wanderd/wanderd/wire"
)

// Besides the commands of all scenarios there are these, with their defaults:
//
//	ring lelann|martin|misra|election|transpeer members=4 k=2 latency=10ms detect=50ms op=1s
//	boot              start all members at once
//	run for=100ms [without=copies]   let time pass; copies that are sent and kept need not be told
//	late from=a to=c by=100ms        the next TOKEN message on that link takes longer
func TestScriptedScenarios(t *testing.T) {
	script.Run(t, func(t *testing.T, s *script.Stage, d *datadriven.TestData) bool {
		t.Helper()
		switch d.Cmd {
		case "ring":
			ring(t, s, d)
		case "boot":
			s.Cluster.Boot()
		case "late":
			late(t, s, d)
		case "run":
			s.Pass(t, d, script.Span(t, d, "for", 100*time.Millisecond))
			if d.HasArg("without") {
				told := withoutCopies(s.Trace.String())
				s.Trace.Reset()
				s.Trace.WriteString(told)
			}
		default:
			return false
		}
		return true
	})
}

func ring(t *testing.T, s *script.Stage, d *datadriven.TestData) {
	t.Helper()
	w := kcopies.World{
		Seed: 1, Members: 4, K: 2, FIFO: true, Latency: script.Span(t, d, "latency", 10*time.Millisecond),
		Detect: script.Span(t, d, "detect", 50*time.Millisecond),
		Hook:   sim.Hook{Takes: script.Span(t, d, "op", time.Second)},
	}
	d.MaybeScanArgs(t, "members", &w.Members)
	d.MaybeScanArgs(t, "k", &w.K)
	told := words(nil)
	if d.HasArg("misra") {
		told = words(passiveCount)
	}
	if d.HasArg("transpeer") {
		load := kcopies.Load{Transactions: 2, Every: 20 * time.Millisecond, Service: 5 * time.Millisecond}
		s.Cluster, _ = w.Routers(load, trace.NewTrace(&s.Trace, words(performed)), kcopies.NewProof(&w))
		return
	}
	if d.HasArg("election") {
		s.Cluster = w.Election([]int{0}, trace.NewTrace(&s.Trace, words(claimed)))
		return
	}
	switch watchers := []sim.Watcher{trace.NewTrace(&s.Trace, told), kcopies.NewProof(&w)}; {
	case d.HasArg("lelann"):
		s.Cluster = w.LeLann(append(watchers, newExclusion())...)
	case d.HasArg("martin"):
		s.Cluster = w.Martin(append(watchers, newExclusion())...)
	default:
		s.Cluster = w.Misra(kcopies.Work{Budget: 0, Takes: w.Hook.Takes}, append(watchers, kcopies.NewTermination())...)
	}
}

// late delays the next TOKEN message of a link.
func late(t *testing.T, s *script.Stage, d *datadriven.TestData) {
	t.Helper()
	var from, to string
	d.ScanArgs(t, "from", &from)
	d.ScanArgs(t, "to", &to)
	by, done := script.Span(t, d, "by", 100*time.Millisecond), false
	s.Cluster.Intercept(func(m *wire.Message) (fate sim.Fate) {
		if !done && m.Kind == protocol.KindToken && sim.MemberName(sim.IndexOf(m.From)) == from &&
			sim.MemberName(sim.IndexOf(m.To)) == to {
			done, fate.Delay = true, by
		}
		return fate
	})
}

// withoutCopies leaves out the copies that are sent and kept, and nothing else.
func withoutCopies(text string) string {
	var b strings.Builder
	lines := strings.SplitAfter(text, "\n")
	for i := 0; i < len(lines); i++ {
		switch {
		case strings.Contains(lines[i], "-> ") && strings.Contains(lines[i], "copy, S_T"):
		case strings.Contains(lines[i], "<- ") && i+1 < len(lines) &&
			strings.HasPrefix(strings.TrimSpace(lines[i+1]), "copy ") &&
			(i+2 == len(lines) || !strings.HasPrefix(lines[i+2], strings.Repeat(" ", 14))):
			i++
		default:
			b.WriteString(lines[i])
		}
	}
	return b.String()
}

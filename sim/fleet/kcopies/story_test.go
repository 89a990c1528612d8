package kcopies_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	protocol "github.com/wanderd/wanderd/policy/kcopies"
	"github.com/wanderd/wanderd/policy/kcopies/election"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/fleet/kcopies"
	"github.com/wanderd/wanderd/sim/tell"
	"github.com/wanderd/wanderd/wire"
)

// Each script in testdata is one situation, and what it must lead to, message by message. With -rewrite the scripts are written anew from
// what happens. The commands, with their defaults:
//
//	ring lelann|martin|misra|election|transpeer members=4 k=2 latency=10ms detect=50ms op=1s
//	boot              start everybody at once
//	run for=100ms [without=copies]   let time pass; copies that are sent and kept need not be told
//	want b            somebody waits for a run of b
//	crash b [c …]     kill them now
//	late from=a to=c by=100ms        the next TOKEN message on that link takes longer
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

type script struct {
	c     *sim.Cluster
	story bytes.Buffer
}

func (s *script) command(t *testing.T, d *datadriven.TestData) string {
	t.Helper()
	s.story.Reset()
	switch d.Cmd {
	case "ring":
		s.ring(t, d)
	case "boot":
		s.c.Boot()
	case "want":
		for _, i := range members(d) {
			s.c.Want(i)
		}
	case "crash":
		for _, i := range members(d) {
			s.c.Crash(i)
		}
	case "late":
		s.late(t, d)
	case "run":
		if err := s.c.Run(s.c.Now().Add(span(t, d, "for", 100*time.Millisecond))); err != nil {
			d.Fatalf(t, "%v", err)
		}
	default:
		d.Fatalf(t, "no such command: %s", d.Cmd)
	}
	if d.HasArg("without") {
		return withoutCopies(s.story.String())
	}
	return s.story.String()
}

func (s *script) ring(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	w := kcopies.World{
		Seed: 1, Members: 4, K: 2, FIFO: true, Latency: span(t, d, "latency", 10*time.Millisecond), Detect: span(t, d, "detect", 50*time.Millisecond),
		Hook: sim.Hook{Takes: span(t, d, "op", time.Second)},
	}
	d.MaybeScanArgs(t, "members", &w.Members)
	d.MaybeScanArgs(t, "k", &w.K)
	words := kcopies.Words(nil)
	if d.HasArg("misra") {
		words = kcopies.Words(kcopies.PassiveCount)
	}
	if d.HasArg("transpeer") {
		load := kcopies.Load{Transactions: 2, Every: 20 * time.Millisecond, Service: 5 * time.Millisecond}
		s.c, _ = w.Routers(load, tell.NewTrace(&s.story, kcopies.Words(kcopies.Performed)), kcopies.NewProof(&w))
		return
	}
	if d.HasArg("election") {
		s.c = w.Election([]int{0}, tell.NewTrace(&s.story, kcopies.Words(election.Carried)))
		return
	}
	switch watchers := []sim.Watcher{tell.NewTrace(&s.story, words), kcopies.NewProof(&w)}; {
	case d.HasArg("lelann"):
		s.c = w.LeLann(append(watchers, kcopies.NewExclusion())...)
	case d.HasArg("martin"):
		s.c = w.Martin(append(watchers, kcopies.NewExclusion())...)
	default:
		s.c = w.Misra(kcopies.Work{Budget: 0, Takes: w.Hook.Takes}, append(watchers, kcopies.NewTermination())...)
	}
}

// late delays the next TOKEN message of a link.
func (s *script) late(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	var from, to string
	d.ScanArgs(t, "from", &from)
	d.ScanArgs(t, "to", &to)
	by, done := span(t, d, "by", 100*time.Millisecond), false
	s.c.Intercept(func(m *wire.Message) (fate sim.Fate) {
		if !done && m.Kind == protocol.KindToken && sim.IndexOf(m.From) == number(from) && sim.IndexOf(m.To) == number(to) {
			done, fate.Delay = true, by
		}
		return fate
	})
}

// withoutCopies leaves out the copies that are sent, and kept, and nothing else.
func withoutCopies(story string) string {
	var b strings.Builder
	lines := strings.SplitAfter(story, "\n")
	for i := 0; i < len(lines); i++ {
		switch {
		case strings.Contains(lines[i], "-> ") && strings.Contains(lines[i], "copy, S_T"):
		case strings.Contains(lines[i], "<- ") && i+1 < len(lines) && strings.HasPrefix(strings.TrimSpace(lines[i+1]), "copy ") &&
			(i+2 == len(lines) || !strings.HasPrefix(lines[i+2], strings.Repeat(" ", 14))):
			i++
		default:
			b.WriteString(lines[i])
		}
	}
	return b.String()
}

func members(d *datadriven.TestData) []int {
	var all []int
	for _, a := range d.CmdArgs {
		all = append(all, number(a.Key))
	}
	return all
}

func number(name string) int { return int(name[0] - 'a') }

func span(t *testing.T, d *datadriven.TestData, key string, otherwise time.Duration) time.Duration {
	t.Helper()
	text := otherwise.String()
	d.MaybeScanArgs(t, key, &text)
	took, err := time.ParseDuration(text)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return took
}

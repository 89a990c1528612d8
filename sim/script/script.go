// Package script runs scenarios in tests: each file in testdata is one situation, and what must follow from it, message
// by message. With -rewrite the files are rewritten from what happens; read the difference as you would read a change
// of the protocol. The product does not use this package.
package script

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"github.com/wanderd/wanderd/sim"
)

// Stage is where a scenario takes place. These commands are the same on all stages:
//
//	want b [c …]      a caller waits for a run of b
//	crash b [c …]     kill them now
//	run for=100ms     let time pass
type Stage struct {
	// Cluster is the world of the scenario. A command of the protocol makes it.
	Cluster *sim.Cluster
	// Trace is what has happened since the command began.
	Trace bytes.Buffer
}

// Command carries out a command of a protocol, and reports whether it is such a command.
type Command func(t *testing.T, s *Stage, d *datadriven.TestData) bool

// Run runs the scenarios in testdata.
func Run(t *testing.T, own Command) {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			s := &Stage{}
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				t.Helper()
				s.Trace.Reset()
				if !own(t, s, d) {
					s.command(t, d)
				}
				return s.Trace.String()
			})
		})
	}
}

func (s *Stage) command(t *testing.T, d *datadriven.TestData) {
	t.Helper()
	switch d.Cmd {
	case "want":
		for _, a := range d.CmdArgs {
			s.Cluster.Want(s.Member(t, d, a.Key))
		}
	case "crash":
		for _, a := range d.CmdArgs {
			s.Cluster.Crash(s.Member(t, d, a.Key))
		}
	case "run":
		s.Pass(t, d, Span(t, d, "for", 100*time.Millisecond))
	default:
		d.Fatalf(t, "no such command: %s", d.Cmd)
	}
}

// Pass lets time pass.
func (s *Stage) Pass(t *testing.T, d *datadriven.TestData, passes time.Duration) {
	t.Helper()
	if err := s.Cluster.Run(s.Cluster.Now().Add(passes)); err != nil {
		d.Fatalf(t, "%v\n%s", err, s.Trace.String())
	}
}

// Member returns the number of the member with that name.
func (s *Stage) Member(t *testing.T, d *datadriven.TestData, name string) int {
	t.Helper()
	for i := range s.Cluster.Members() {
		if sim.MemberName(i) == name {
			return i
		}
	}
	d.Fatalf(t, "no such member: %s", name)
	return 0
}

// Span returns the duration that a command gives as name, or otherwise if it gives none.
func Span(t *testing.T, d *datadriven.TestData, name string, otherwise time.Duration) time.Duration {
	t.Helper()
	text := otherwise.String()
	d.MaybeScanArgs(t, name, &text)
	span, err := time.ParseDuration(text)
	if err != nil {
		d.Fatalf(t, "%v", err)
	}
	return span
}

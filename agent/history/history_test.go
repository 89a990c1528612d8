package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/lab/bubble"
)

var noon = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)

// numbered returns a run that has ended well.
func numbered(n int) *Run {
	start := noon.Add(time.Duration(n) * time.Minute)
	return &Run{Start: start, End: start.Add(time.Second), Seq: uint64(n)}
}

// written writes what is new in a log, as at the end of an agent.
func written(t *testing.T, l *Log) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l.Write(ctx, func(err error) { t.Error(err) })
}

func reopened(t *testing.T, path string) *Log {
	t.Helper()
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRunsSurviveARestart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	l := reopened(t, path)
	failed := &Run{
		Start: noon, End: noon.Add(3 * time.Second), Seq: 8, Exit: 3, Error: "exit status 3",
		Output: []string{"no route"},
	}
	l.Put(numbered(-1))
	l.Put(&Run{Start: noon, Seq: 8})
	written(t, l)
	l.Put(failed)
	written(t, l)
	if diff := cmp.Diff([]Run{*numbered(-1), *failed}, reopened(t, path).Runs()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// An agent that was killed has written that a run began, and not how it ended.
func TestARunThatItsAgentDidNotSurviveIsCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	l := reopened(t, path)
	l.Put(&Run{Start: noon, Seq: 8})
	written(t, l)
	if runs := l.Runs(); !runs[0].Running() || runs[0].Failed() {
		t.Errorf("in its agent's life: %+v", runs)
	}
	if runs := reopened(t, path).Runs(); len(runs) != 1 || runs[0].Cut != CutAgent || runs[0].Exit != -1 ||
		!runs[0].Failed() {
		t.Errorf("afterwards: %+v", runs)
	}
}

func TestTheLastThousandRunsAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	l := reopened(t, path)
	for n := range 5*Keep + 1 {
		l.Put(numbered(n))
		if n%100 == 0 {
			written(t, l)
		}
	}
	for _, l := range []*Log{l, reopened(t, path)} {
		if runs := l.Runs(); len(runs) != Keep || runs[0].Seq != 4*Keep+1 || runs[Keep-1].Seq != 5*Keep {
			t.Errorf("%d runs, %d to %d", len(runs), runs[0].Seq, runs[len(runs)-1].Seq)
		}
	}
	text, err := os.ReadFile(path)
	if lines := strings.Count(string(text), "\n"); err != nil || lines > 4*Keep {
		t.Errorf("the file has %d lines, %v", lines, err)
	}
}

func TestDamagedLinesAreSkipped(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	l := reopened(t, path)
	l.Put(numbered(1))
	written(t, l)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("{}\n"+string(whole)+string(whole[:20])), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err = Open(path)
	if err == nil || !strings.Contains(err.Error(), "2 lines") {
		t.Errorf("the error is %v", err)
	}
	l.Put(numbered(2))
	written(t, l)
	if diff := cmp.Diff([]Run{*numbered(1), *numbered(2)}, reopened(t, path).Runs()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestALinkIsNotFollowed(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "history"), filepath.Join(dir, "other")
	if err := errors.Join(os.WriteFile(other, nil, 0o600), os.Symlink(other, path)); err != nil {
		t.Fatal(err)
	}
	l, err := Open(path)
	if err == nil {
		t.Error("a link was read")
	}
	l.Put(numbered(1))
	if err := l.write(); err == nil {
		t.Error("a link was written to")
	}
}

// A run that could not be written is written later, with those that have come since.
func TestAPipeIsNotWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(path)
	if err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
	if err := l.save([]Run{*numbered(1)}, false); !errors.Is(err, syscall.ENXIO) {
		t.Errorf("written to a pipe that nobody reads: %v", err)
	}
}

func TestAWriteThatFailsIsRepeated(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "not yet", "history")
	bubble.Test(t, func(t *testing.T) {
		l := reopened(t, path)
		ctx, cancel := context.WithCancel(t.Context())
		said := 0
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			l.Write(ctx, func(error) { said++ })
		}()
		l.Put(numbered(1))
		time.Sleep(3 * retryAfter)
		l.Put(numbered(2))
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * retryAfter)
		if diff := cmp.Diff([]Run{*numbered(1), *numbered(2)}, reopened(t, path).Runs()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		cancel()
		<-ended
		if said != 1 {
			t.Errorf("the same was said %d times", said)
		}
	})
}

// FuzzRead: whatever the file contains, what is read are runs that have ended.
func FuzzRead(f *testing.F) {
	line, _ := json.Marshal(numbered(1))
	f.Add(append(line, '\n'))
	f.Add([]byte("{\"start\":\"2030-01-01T12:00:00Z\"}\n\n[]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		l := &Log{}
		_ = l.read(bytes.NewReader(text))
		for _, r := range l.Runs() {
			if r.Start.IsZero() || r.Running() {
				t.Errorf("%+v", r)
			}
		}
	})
}

// A host that skips its turns has not run: the machinery sees the runs only, people see both.
func TestASkipIsNoRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now().Round(0)
	l.Put(&Run{Start: begun, End: begun, Seq: 7})
	want := Skip{By: "alice", Reason: "repair", Until: begun.Add(3 * time.Hour)}
	second := begun.Add(time.Hour)
	l.Put(&Run{Start: second, Seq: 8})
	l.Skips(second.Add(time.Minute), want)
	l.Put(&Run{Start: second, End: second.Add(2 * time.Minute), Seq: 8}) // It has ended since.
	if err := l.write(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range []*Log{l, again} {
		all, runs := l.All(), l.Runs()
		if len(all) != 3 || all[2].Skip == nil || !all[2].Skip.Until.Equal(want.Until) || all[2].Skip.By != want.By ||
			all[2].Running() || all[2].Failed() {
			t.Errorf("all: %+v", all)
		}
		if len(runs) != 2 || runs[0].Seq != 7 || runs[1].Took() != 2*time.Minute || !l.Last().Equal(second) ||
			l.Interrupted() != nil {
			t.Errorf("runs: %+v, the last one at %v", runs, l.Last())
		}
	}
}

package examples_test

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	syncHook   = "sync/sync.sh"
	syncOrigin = "sync/origin.sh"
)

// withoutRsync returns a PATH with all needed programs but rsync.
func withoutRsync(t *testing.T) string {
	t.Helper()
	return pathOf(t, "sh", "dirname", "mktemp", "mkdir", "chmod", "head", "rm", "mv", "cp", "sleep", "cat")
}

func TestSyncRunsWithoutSettings(t *testing.T) {
	t.Parallel()
	to, tmp := t.TempDir(), t.TempDir()
	out := mustRun(t, []string{"SYNC_TO=" + to, "TMPDIR=" + tmp, "WANDERD_SEQ=5", "WANDERD_NAME=alice"}, syncHook)
	if !strings.Contains(out, "alice (5 ") {
		t.Errorf("it does not say who ran under which number:\n%s", out)
	}
	if got := countFiles(t, to+"/tree"); got != 64 {
		t.Errorf("the mirror has %d files, want 64", got)
	}
	wantContent(t, to+"/.last-seq-0", "5\n")
	wantEmpty(t, tmp)
	if url := regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(out); url != "" {
		if conn, err := net.DialTimeout("tcp", url, time.Second); err == nil {
			_ = conn.Close()
			t.Errorf("the rsync daemon still listens on %s", url)
		}
	}
}

func TestSyncCopiesWithoutRsyncAndSaysSo(t *testing.T) {
	t.Parallel()
	to := t.TempDir()
	for range 2 { // The second time, the mirror exists.
		out := mustRun(t, []string{withoutRsync(t), "SYNC_TO=" + to}, syncHook)
		if !strings.Contains(out, "rsync is not installed") {
			t.Errorf("it does not say that rsync is missing:\n%s", out)
		}
		if got := countFiles(t, to+"/tree"); got != 64 {
			t.Errorf("the copy has %d files, want 64", got)
		}
	}
}

func TestSyncFromADaemonNeedsRsync(t *testing.T) {
	t.Parallel()
	env := []string{withoutRsync(t), "SYNC_TO=" + t.TempDir(), "SYNC_FROM=rsync://127.0.0.1/tree"}
	if out, err := script(t, env, syncHook); err == nil || !strings.Contains(out, "install rsync") {
		t.Errorf("it ended with %v, want a failure that says what to install:\n%s", err, out)
	}
}

func TestSyncOfAnOvertakenHolderChangesNothing(t *testing.T) {
	t.Parallel()
	to, older, newer := t.TempDir(), t.TempDir(), t.TempDir()
	write(t, older+"/file", "older")
	write(t, newer+"/file", "newer")

	mustRun(t, []string{"SYNC_TO=" + to, "SYNC_FROM=" + newer, "WANDERD_SEQ=4294967296"}, syncHook)
	out, err := script(t, []string{"SYNC_TO=" + to, "SYNC_FROM=" + older, "WANDERD_SEQ=4294967295"}, syncHook)
	if err == nil || !strings.Contains(out, "overtaken") {
		t.Errorf("number 2³²-1 after 2³² ended with %v, want a refusal:\n%s", err, out)
	}
	wantContent(t, to+"/tree/file", "newer")
	wantContent(t, to+"/.last-seq-0", "4294967296\n")
}

// A host of a gate with several tokens may run under any of them, and their numbers are not comparable.
func TestSyncComparesNumbersWithinEachSlot(t *testing.T) {
	t.Parallel()
	to, from := t.TempDir(), t.TempDir()
	for _, grant := range [][]string{
		{"WANDERD_SLOT=1", "WANDERD_SEQ=4294967296"}, {"WANDERD_SLOT=0", "WANDERD_SEQ=7"},
	} {
		mustRun(t, append([]string{"SYNC_TO=" + to, "SYNC_FROM=" + from}, grant...), syncHook)
	}
	out, err := script(t, []string{"SYNC_TO=" + to, "SYNC_FROM=" + from, "WANDERD_SLOT=1", "WANDERD_SEQ=8"}, syncHook)
	if err == nil || !strings.Contains(out, "overtaken") {
		t.Errorf("number 8 after 2³² of the same slot ended with %v, want a refusal:\n%s", err, out)
	}
}

func TestSyncRefusesADamagedRecordOfTheNumber(t *testing.T) {
	t.Parallel()
	to, from := t.TempDir(), t.TempDir()
	for _, seen := range []string{"", "many\n", "-1\n"} {
		write(t, to+"/.last-seq-0", seen)
		out, err := script(t, []string{"SYNC_TO=" + to, "SYNC_FROM=" + from, "WANDERD_SEQ=9"}, syncHook)
		if err == nil || !strings.Contains(out, "should contain a number") {
			t.Errorf("after %q it ended with %v, want a refusal:\n%s", seen, err, out)
		}
	}
}

func TestOriginTakesOneClientAtATime(t *testing.T) {
	t.Parallel()
	_, url := startOrigin(t)
	address, module, _ := strings.Cut(strings.TrimPrefix(url, "rsync://"), "/")
	first := greet(t, address, module)
	if answer := first(); answer != "@RSYNCD: OK" {
		t.Fatalf("the first client is told %q", answer)
	}
	if answer := greet(t, address, module)(); !strings.Contains(answer, "max connections (1) reached") {
		t.Errorf("a client beside the first is told %q, want to be turned away", answer)
	}
}

func TestOriginCleansUpWhenItIsStopped(t *testing.T) {
	t.Parallel()
	origin, _ := startOrigin(t)
	if err := origin.Cancel(); err != nil {
		t.Fatal(err)
	}
	err := origin.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 128+int(syscall.SIGTERM) {
		t.Errorf("it ended with %v, want the exit status of a TERM", err)
	}
	for _, variable := range origin.Env {
		if tmp, ok := strings.CutPrefix(variable, "TMPDIR="); ok {
			wantEmpty(t, tmp)
		}
	}
}

// startOrigin runs the rsync daemon until the test ends.
func startOrigin(t *testing.T) (origin *exec.Cmd, url string) {
	t.Helper()
	if _, err := exec.LookPath("rsync"); err != nil {
		t.Skip("no rsync here")
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	origin = command(ctx, t, nil, syncOrigin, "sh", "-c", `echo "$SYNC_FROM"; exec sleep 60`)
	out, err := origin.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := origin.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = origin.Wait() // Stopped on purpose, or already waited for.
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("the origin did not start: %v", err)
	}
	return origin, strings.TrimSpace(line)
}

// greet requests a module from an rsync daemon and keeps the connection. Its result reads the daemon's answer.
func greet(t *testing.T, address, module string) (answer func() string) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write([]byte("@RSYNCD: 31.0\n" + module + "\n")); err != nil {
		t.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	if _, err := reader.ReadString('\n'); err != nil {
		t.Fatalf("the daemon's greeting: %v", err)
	}
	return func() string {
		line, err := reader.ReadString('\n')
		if err != nil {
			t.Fatalf("the daemon's answer: %v", err)
		}
		return strings.TrimSpace(line)
	}
}

func countFiles(t *testing.T, dir string) int {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			files++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

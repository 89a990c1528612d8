package examples_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/wanderd/wanderd/lab/deep"
)

// runs is how often every member must run its hook before the fleet is stopped.
const runs = 2

func TestSyncExampleKeepsTransfersApart(t *testing.T) {
	deep.Only(t, "a fleet of real agents")
	t.Parallel()
	if _, err := exec.LookPath("rsync"); err != nil {
		t.Skip("no rsync here")
	}
	summary := watch(t, nil, "sync: ", ": done", "sync/run.sh")
	if !strings.HasPrefix(summary, "3 mirrors, ") || !strings.HasSuffix(summary, " 0 turned away") {
		t.Errorf("it ended with %q, want 3 mirrors and nobody turned away", summary)
	}
}

func TestCacheRefreshExampleKeepsDownloadsApart(t *testing.T) {
	deep.Only(t, "a fleet of real agents")
	t.Parallel()
	env := []string{"ORIGIN=" + build(t, "./cache-refresh/origin")}
	summary := watch(t, env, "refresh: ", " bytes from ", "cache-refresh/run.sh")
	var stats struct{ Downloads, Most, Refused int }
	if err := json.Unmarshal([]byte(summary), &stats); err != nil {
		t.Fatalf("the origin's count is %q: %v", summary, err)
	}
	if stats.Downloads < 3*runs || stats.Most != 1 || stats.Refused != 0 {
		t.Errorf("the origin has counted %+v, want at least %d downloads, and one at a time", stats, 3*runs)
	}
}

// watch runs an example until each of the agents a, b and c has logged a line with both marks twice. Then it sends
// SIGINT, as Ctrl-C does, and returns the last line of the output.
func watch(t *testing.T, env []string, begin, end string, argv ...string) (last string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	// A busy machine may stop for seconds. That must not look like a lost token or a dead holder, because a new or
	// revived token would overlap, and correctly so.
	env = append(env, "WANDERD="+build(t, "../cmd/wanderd"), "WANDERD_MAX_INTERVAL=20s", "WANDERD_BACKUPS=0")
	example := command(ctx, t, env, append(argv, "600")...)
	out, err := example.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	example.Stderr = t.Output()
	if err := example.Start(); err != nil {
		t.Fatal(err)
	}
	seen, missing := map[string]int{}, 3
	var log strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		last = lines.Text()
		log.WriteString(last + "\n")
		if agent, line, ok := strings.Cut(last, ": "); ok && strings.Contains(line, begin) &&
			strings.Contains(line, end) {
			if seen[agent]++; seen[agent] == runs {
				missing--
			}
			if missing == 0 {
				missing--
				if err := syscall.Kill(-example.Process.Pid, syscall.SIGINT); err != nil {
					t.Error(err)
				}
			}
		}
	}
	if err := example.Wait(); err != nil || missing > 0 {
		t.Errorf("the example ended with %v after these runs: %v\n%s", err, seen, log.String())
	}
	return last
}

// The hooks of an example have a temporary cache folder. The build of its programs must not: with an empty cache, Go
// compiles everything again, which takes a minute.
func TestAnExampleBuildsItsProgramsWithTheCallersCache(t *testing.T) {
	t.Parallel()
	for _, example := range []string{"sync/run.sh", "cache-refresh/run.sh"} {
		t.Run(example, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			write(t, dir+"/go", "#!/bin/sh\necho \"$XDG_CACHE_HOME\" >>\"$BUILDS\"\nexit 1\n")
			if err := os.Chmod(dir+"/go", 0o700); err != nil {
				t.Fatal(err)
			}
			// The second example starts its fleet only if its origin runs.
			env := []string{
				"PATH=" + dir + ":" + os.Getenv("PATH"), "XDG_CACHE_HOME=" + dir + "/mine", "BUILDS=" + dir + "/builds",
				"SYNC_FROM=" + dir, "ORIGIN=" + build(t, "./cache-refresh/origin"),
			}
			out, _ := script(t, env, example, "1") // It fails: nothing is built.
			wantContent(t, dir+"/builds", dir+"/mine\n")
			t.Log(out)
		})
	}
}

package examples_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

const refreshHook = "cache-refresh/refresh.sh"

// serveAs serves all requests with answer until the test ends.
func serveAs(t *testing.T, answer http.HandlerFunc) (url string) {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	return server.URL
}

// eachFetcher runs a test with curl, if it is installed, and with the example's own program.
func eachFetcher(t *testing.T, test func(t *testing.T, env []string)) {
	t.Run("curl", func(t *testing.T) {
		if _, err := exec.LookPath("curl"); err != nil {
			t.Skip("no curl here")
		}
		test(t, nil)
	})
	t.Run("fetch", func(t *testing.T) {
		test(t, []string{
			pathOf(t, "sh", "mkdir", "rm", "mv", "date", "wc"),
			"CACHE_FETCH=" + build(t, "./cache-refresh/origin"),
		})
	})
}

func TestRefreshReplacesTheCacheAndSendsItsNumber(t *testing.T) {
	t.Parallel()
	eachFetcher(t, func(t *testing.T, env []string) {
		url := serveAs(t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "for "+r.Header.Get("Wanderd-Seq"))
		})
		dir := t.TempDir()
		write(t, dir+"/artifact", "old")
		out := mustRun(t, append(env, "CACHE_FROM="+url, "CACHE_DIR="+dir, "WANDERD_SEQ=42", "WANDERD_NAME=alice"),
			refreshHook)
		if !strings.Contains(out, "alice (42)") {
			t.Errorf("it does not say who ran under which number:\n%s", out)
		}
		wantContent(t, dir+"/artifact", "for 42")
	})
}

func TestRefreshThatFailsKeepsTheOldCache(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]http.HandlerFunc{
		"refused": func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "overtaken", http.StatusPreconditionFailed)
		},
		"cut short": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = io.WriteString(w, "half of it")
		},
	} {
		t.Run(name, func(t *testing.T) {
			eachFetcher(t, func(t *testing.T, env []string) {
				dir := t.TempDir()
				write(t, dir+"/artifact", "old")
				if out, err := script(t, append(env, "CACHE_FROM="+serveAs(t, answer), "CACHE_DIR="+dir),
					refreshHook); err == nil {
					t.Errorf("it ended well:\n%s", out)
				}
				wantContent(t, dir+"/artifact", "old")
				if got := countFiles(t, dir); got != 1 {
					t.Errorf("%d files are in the cache, want the artifact alone", got)
				}
			})
		})
	}
}

func TestRefreshDoesNotBeginAfterItsDeadline(t *testing.T) {
	t.Parallel()
	url := serveAs(t, func(http.ResponseWriter, *http.Request) { t.Error("it asked the origin") })
	env := []string{"CACHE_FROM=" + url, "CACHE_DIR=" + t.TempDir(), "WANDERD_DEADLINE=" + strconv.Itoa(1_000_000_000)}
	if out, err := script(t, env, refreshHook); err == nil || !strings.Contains(out, "deadline") {
		t.Errorf("it ended with %v, want a failure that says why:\n%s", err, out)
	}
}

func TestRefreshNamesWhatIsMissing(t *testing.T) {
	t.Parallel()
	if out, err := script(t, nil, refreshHook); err == nil || !strings.Contains(out, "set CACHE_FROM") {
		t.Errorf("without an origin it ended with %v:\n%s", err, out)
	}
	env := []string{pathOf(t, "sh", "mkdir", "rm", "date"), "CACHE_FROM=http://127.0.0.1:1", "CACHE_DIR=" + t.TempDir()}
	if out, err := script(t, env, refreshHook); err == nil || !strings.Contains(out, "curl is not installed") {
		t.Errorf("without curl it ended with %v:\n%s", err, out)
	}
}

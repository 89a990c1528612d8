package examples_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// receiver is a web server that notes what it is asked, and answers as Alertmanager does.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string
	fails bool
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, ask *http.Request) {
		body, _ := io.ReadAll(ask.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.fails {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		r.asked = append(r.asked, ask.Method+" "+ask.URL.Path+" "+string(body))
		_, _ = io.WriteString(w, `{"silenceID":"0b1c-22"}`)
	}))
	t.Cleanup(r.Close)
	return r
}

// requests returns what it was asked so far.
func (r *receiver) requests() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.asked...)
}

func TestAlertsAreSilentForTheTimeOfARun(t *testing.T) {
	t.Parallel()
	path := pathOf(t, "curl", "date", "sed", "cat", "rm", "mkdir", "sh")
	r := newReceiver(t)
	env := []string{
		path, "ALERTMANAGER=" + r.URL, "STATE=" + filepath.Join(t.TempDir(), "silences"), "WANDERD_EVENT_HOST=web3",
		"WANDERD_EVENT_GATE=upgrade", "WANDERD_EVENT_SEQ=7",
	}
	event := func(kind string) error {
		_, err := script(t, append([]string{"WANDERD_EVENT=" + kind}, env...), "events/silence.sh")
		return err
	}
	r.fails = true
	if err := event("started"); err == nil || !strings.Contains(err.Error(), "75") {
		t.Errorf("while Alertmanager fails: %v", err)
	}
	r.fails = false
	for _, kind := range []string{"paused", "started", "failed", "ended"} {
		if err := event(kind); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	asked := r.requests()
	if len(asked) != 2 || asked[1] != "DELETE /api/v2/silence/0b1c-22 " {
		t.Fatalf("it was asked %q", asked)
	}
	var silence struct {
		Matchers         []struct{ Name, Value string }
		StartsAt, EndsAt time.Time
	}
	text, ok := strings.CutPrefix(asked[0], "POST /api/v2/silences ")
	if err := json.Unmarshal([]byte(text), &silence); !ok || err != nil || len(silence.Matchers) != 1 ||
		silence.Matchers[0].Value != "web3" || silence.EndsAt.Sub(silence.StartsAt) != time.Hour {
		t.Errorf("%v, %+v of %s", err, silence, asked[0])
	}
}

// An agent with the example's settings posts to a chat that a hook has failed.
func TestAChatHearsOfAFailedRun(t *testing.T) {
	t.Parallel()
	r, dir := newReceiver(t), t.TempDir()
	write(t, filepath.Join(dir, "webhook"), r.URL+"/hooks/xyz\n")
	text, err := os.ReadFile("events/wanderd.toml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "wanderd.toml")
	write(t, file, strings.Replace(string(text), "/etc/wanderd/webhook", filepath.Join(dir, "webhook"), 1))
	ctx, cancel := context.WithCancel(t.Context())
	agent := command(ctx, t, nil, build(t, "../cmd/wanderd"), "--config", file,
		"--state-dir", filepath.Join(dir, "state"), "--name", "web3", "--bind", "127.0.0.1:0", "--hook", "false")
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		cancel()
		_ = agent.Wait()
	}()
	want := `POST /hooks/xyz {"text": "web3, gate default: the hook has failed: exit status 1"}`
	for deadline := time.Now().Add(patience); len(r.requests()) == 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing is posted")
		}
	}
	if got := r.requests()[0]; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

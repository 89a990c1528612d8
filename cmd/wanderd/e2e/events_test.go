package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/events"
)

// receiver is a web server that takes events, or says that it cannot now.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	busy  bool
	taken []events.Event
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, ask *http.Request) {
		var e events.Event
		text, err := io.ReadAll(ask.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.busy || err != nil || json.Unmarshal(text, &e) != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		r.taken = append(r.taken, e)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) set(busy bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = busy
}

// of returns what a host has told, by the identities of the events.
func (r *receiver) of(host string) (told map[string]events.Event, twice int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	told = make(map[string]events.Event)
	for _, e := range r.taken {
		if e.Host != host {
			continue
		}
		if _, is := told[e.ID]; is {
			twice++
		}
		told[e.ID] = e
	}
	return told, twice
}

// orSaved returns what a host has told, and what waits on its disk. What has not got there when an agent is killed is
// lost.
func (r *receiver) orSaved(t *testing.T, n *node) map[string]events.Event {
	t.Helper()
	told, _ := r.of(n.name)
	text, err := os.ReadFile(filepath.Join(n.state, "events-webhook.json"))
	var saved []events.Event
	if err != nil || json.Unmarshal(text, &saved) != nil {
		return told
	}
	for _, e := range saved {
		told[e.ID] = e
	}
	return told
}

func started(told map[string]events.Event) (n int) {
	for _, e := range told {
		if e.Kind == events.Started {
			n++
		}
	}
	return n
}

// commandGot returns what the command for events has got of a host, and its lines.
func (f *fleet) commandGot(n *node) (text string, lines []string) {
	b, err := os.ReadFile(f.journal + "." + n.name)
	if err != nil {
		return "", nil
	}
	return string(b), strings.Fields(strings.ReplaceAll(string(b), " ", "_"))
}

// unmatched lists what the history of a node and the events that it has told do not agree on.
func unmatched(n *node, told map[string]events.Event) (wrong []string) {
	var h control.History
	if err := json.Unmarshal([]byte(n.prints("history", "--json")), &h); err != nil || len(h.Gates) == 0 {
		return []string{fmt.Sprint(err)}
	}
	want := make(map[string]bool)
	for _, r := range h.Gates[0].Runs {
		want[fmt.Sprint(events.Started, r.Seq)] = true
		end := events.Ended
		if r.Failed() {
			end = events.Failed
		}
		if !r.Running() {
			want[fmt.Sprint(end, r.Seq)] = true
		}
	}
	for _, e := range told {
		if what := fmt.Sprint(e.Kind, e.Seq); !want[what] && e.Seq != 0 && e.Kind != events.Revived {
			wrong = append(wrong, "not in the history: "+e.ID)
		} else {
			delete(want, what)
		}
	}
	for what := range want {
		wrong = append(wrong, "not told: "+what)
	}
	return wrong
}

// A receiver gets each event of each host, although two agents are killed while they run, and although it is busy for a
// while. It gets none of them twice, except one that was under way when its agent was killed.
func TestEveryEventIsToldDespiteTwoKills(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	f := newFleet(t, 3, "--min-interval", "1s", "--skip", "250ms", "--webhook", r.URL, "--on-event")
	f.args = append(f.args, f.script(`[ "$WANDERD_EVENT" = "started" ] || exit 0
		cat >>"$JOURNAL.$WANDERD_EVENT_HOST"; echo >>"$JOURNAL.$WANDERD_EVENT_HOST"`))
	const work = "WORK=0.7" // long enough for a look at what is told
	for _, n := range f.nodes {
		n.start(work)
	}
	ran := func(times int) {
		t.Helper()
		before := len(f.runs())
		until(t, "hooks run", func() bool { return len(f.runs()) >= before+times })
	}
	ran(6)
	for i, n := range f.nodes[:2] {
		r.set(i == 1)
		ran(2)
		until(t, n.name+" runs, and has told or saved that", func() bool {
			s, ok := n.status()
			told := r.orSaved(t, n)
			_, lines := f.commandGot(n)
			return ok && s.Gates[0].Running && len(unmatched(n, told)) == 0 && len(lines) >= started(told)
		})
		n.kill()
		ran(3)
		n.start(work)
		ran(3)
		r.set(false)
	}
	n := f.nodes[2]
	n.does("pause", "--reason", "that is enough")
	var missing []string
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what was missing at last: %q", missing)
		}
	})
	until(t, "all is told", func() bool {
		missing = nil
		for _, n := range f.nodes {
			told, _ := r.of(n.name)
			for _, what := range unmatched(n, told) {
				missing = append(missing, n.name+": "+what)
			}
			if s, ok := n.status(); !ok || s.Gates[0].Running {
				missing = append(missing, n.name+" runs")
			}
		}
		return len(missing) == 0
	})
	twice, pauses := 0, make(map[string]int)
	for _, n := range f.nodes {
		told, again := r.of(n.name)
		twice += again
		for id, e := range told {
			if e.Kind == events.Paused {
				pauses[id]++
			}
		}
		text, lines := f.commandGot(n)
		if begun := started(told); !strings.HasPrefix(text, `{"id":"started/default/`) || len(lines) < begun {
			t.Errorf("%s: the command got %d of %d events\n%s", n.name, len(lines), begun, text)
		}
	}
	if twice > 2 || len(pauses) != 1 {
		t.Errorf("%d events are told twice; pauses: %v", twice, pauses)
	}
}

// The URL of a webhook may be a secret: it is in no line of the log and in no answer.
func TestTheURLOfAWebhookStaysSecret(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	r.set(true)
	f := newFleet(t, 1, "--min-interval", "1s", "--skip", "250ms", "--alone", "run")
	file := filepath.Join(f.dir, "webhook")
	if err := os.WriteFile(file, []byte(r.URL+"/hidden-word\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.args = append(f.args, "--webhook-file", file)
	f.start()
	n := f.nodes[0]
	until(t, "the status warns", func() bool {
		s, ok := n.status()
		return ok && slices.ContainsFunc(s.Warnings, func(w control.Warning) bool {
			return strings.Contains(w.Text, "events wait for webhook") && strings.Contains(w.Text, "503")
		})
	})
	n.logged("an event cannot be delivered yet")
	log, err := os.ReadFile(n.log)
	for _, text := range []string{string(log), n.told(), n.metrics(), n.prints("status", "--json")} {
		if err != nil || strings.Contains(text, "hidden-word") {
			t.Errorf("%v, the URL is in\n%s", err, text)
		}
	}
	if !strings.Contains(n.metrics(), `wanderd_events_waiting{receiver="webhook"}`) {
		t.Error("no metric has the events that wait")
	}
}

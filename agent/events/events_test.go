package events

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/bubble"
)

// memory is a disk.
type memory struct {
	mu    sync.Mutex
	texts map[string][]byte
	fails bool
}

func (m *memory) LoadEvents(receiver string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.texts[receiver], nil
}

func (m *memory) SaveEvents(receiver string, events any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fails {
		return errors.New("the disk is full")
	}
	text, err := json.Marshal(events)
	m.texts[receiver] = text
	return err
}

// receiver takes events, and says what the test wants.
type receiver struct {
	mu    sync.Mutex
	says  error
	takes time.Duration
	taken []string
}

func (r *receiver) deliver(ctx context.Context, e *Event) error {
	r.mu.Lock()
	says, takes := r.says, r.takes
	r.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if says == nil {
		r.taken = append(r.taken, e.ID)
	}
	return says
}

func (r *receiver) say(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.says = err
}

func (r *receiver) got() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.taken)
}

// life is one life of an agent with an outbox.
func life(t *testing.T, m *memory, r *receiver, during func(o *outbox)) {
	t.Helper()
	o := newOutbox("test", m, zerolog.Nop())
	o.recall()
	o.use(r.deliver)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		o.run(ctx)
	}()
	during(o)
	stopped := time.Now()
	cancel()
	<-ended
	if took := time.Since(stopped); took > time.Second {
		t.Errorf("the stop takes %v", took)
	}
}

func numbered(n int) *Event { return &Event{ID: fmt.Sprint(n), Kind: Failed, At: time.Now()} }

func counted(o *outbox) control.Events {
	counts := make(map[string]control.Events)
	o.report(counts, nil)
	return counts["test"]
}

func TestEventsAreDeliveredInOrderOnceEach(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m, r := &memory{texts: make(map[string][]byte)}, &receiver{}
		life(t, m, r, func(o *outbox) {
			for n := range 3 {
				o.put(numbered(n))
				o.put(numbered(n))
			}
			time.Sleep(time.Second)
			if c := counted(o); c.Delivered != 3 || c.Waiting != 0 {
				t.Errorf("%+v", c)
			}
		})
		if !slices.Equal(r.got(), []string{"0", "1", "2"}) || string(m.texts["test"]) != "[]" {
			t.Errorf("%v, on the disk: %s", r.got(), m.texts["test"])
		}
	})
}

// What the receiver cannot take now comes again, also in the next life of the agent; what it refuses does not.
func TestWhatIsNotTakenComesAgain(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m, r := &memory{texts: make(map[string][]byte)}, &receiver{says: errors.New("not now")}
		life(t, m, r, func(o *outbox) {
			o.put(numbered(1))
			o.put(numbered(2))
			time.Sleep(10 * time.Second)
			if list := o.report(make(map[string]control.Events), nil); len(list) != 1 || list[0].Count != 2 {
				t.Errorf("the warnings are %+v", list)
			}
		})
		life(t, m, r, func(o *outbox) {
			r.say(errRefused{errors.New("never")})
			time.Sleep(time.Second)
			if c := counted(o); c.Failed != 2 {
				t.Errorf("%+v", c)
			}
			r.say(errors.New("not now"))
			o.put(numbered(3))
			time.Sleep(time.Hour)
			r.say(nil)
			time.Sleep(2 * retryMax)
		})
		if !slices.Equal(r.got(), []string{"3"}) {
			t.Errorf("taken: %v", r.got())
		}
	})
}

func TestAnOldEventIsGivenUp(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m, r := &memory{texts: make(map[string][]byte)}, &receiver{says: errors.New("not now")}
		life(t, m, r, func(o *outbox) {
			o.put(numbered(1))
			time.Sleep(maxAge - time.Hour)
			if c := counted(o); c.Waiting != 1 {
				t.Errorf("%+v", c)
			}
			time.Sleep(2 * time.Hour)
			if c := counted(o); c.Waiting != 0 || c.Failed != 1 {
				t.Errorf("%+v", c)
			}
		})
	})
}

// A receiver that hangs holds nobody up, and costs the oldest events.
func TestTooManyEventsDropTheOldest(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m, r := &memory{texts: make(map[string][]byte)}, &receiver{takes: time.Hour}
		life(t, m, r, func(o *outbox) {
			for n := range Queue + 5 {
				o.put(numbered(n))
			}
			time.Sleep(time.Second)
			if c := counted(o); c.Waiting != Queue || c.Dropped != 5 {
				t.Errorf("%+v", c)
			}
		})
		var kept []Event
		if err := json.Unmarshal(m.texts["test"], &kept); err != nil || len(kept) != Queue || kept[0].ID != "5" {
			t.Errorf("%d on the disk, %v", len(kept), err)
		}
	})
}

func TestADiskThatFailsIsTriedAgain(t *testing.T) {
	bubble.Test(t, func(t *testing.T) {
		m, r := &memory{texts: make(map[string][]byte), fails: true}, &receiver{says: errors.New("not now")}
		life(t, m, r, func(o *outbox) {
			o.put(numbered(1))
			time.Sleep(time.Minute)
			m.mu.Lock()
			m.fails = false
			m.mu.Unlock()
			time.Sleep(2 * saveAgain)
			m.mu.Lock()
			defer m.mu.Unlock()
			if !strings.Contains(string(m.texts["test"]), `"id":"1"`) {
				t.Errorf("on the disk: %s", m.texts["test"])
			}
		})
	})
}

// However long the words of an event are, it stays short; so the queue fits into its file.
func TestAnEventIsShort(t *testing.T) {
	long := strings.Repeat("<\x01ü", 10_000)
	e := Event{
		Kind: Failed, Host: "h", Gate: strings.Repeat("g", 64), Error: long, Reason: long, By: long, Command: long,
	}
	e.complete()
	text, err := json.Marshal(&e)
	if err != nil || len(text) > maxEvent || e.Error == "" {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func TestTheVariablesOfACommand(t *testing.T) {
	exit := 3
	e := Event{ID: "failed/g/1", Kind: Failed, Host: "h", Gate: "g", Seq: 1 << 60, Exit: &exit, Error: "exit status 3"}
	e.complete()
	env := e.environment()
	for _, want := range []string{
		"WANDERD_EVENT=failed", "WANDERD_EVENT_ID=failed/g/1", "WANDERD_EVENT_SEQ=1152921504606846976",
		"WANDERD_EVENT_EXIT=3", "WANDERD_EVENT_TEXT=h, gate g: the hook has failed: exit status 3",
	} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s in %q", want, env)
		}
	}
}

func TestAFormIsFilled(t *testing.T) {
	e := Event{Kind: Failed, Host: "h\"", Gate: "g", Error: "a\n{host}"}
	e.complete()
	for form, want := range map[string]string{
		`{"text": "{host}: {event} of {gate}: {error}"}`: `{"text": "h\": failed of g: a\n{host}"}`,
		`{"a": {"b": ["{reason}"]}}`:                     `{"a": {"b": [""]}}`,
	} {
		if got := string(e.fill(form)); got != want || CheckBody(form) != nil {
			t.Errorf("%s becomes %s, want %s (%v)", form, got, want, CheckBody(form))
		}
	}
	for form, want := range map[string]string{
		`{host}`: "not JSON", `{"seq": {seq}}`: "not JSON", `{"text": "{hots}"}`: "has no {hots}",
		`"` + strings.Repeat("x", maxBody) + `"`: "are allowed",
	} {
		if err := CheckBody(form); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %q", form, err, want)
		}
	}
}

// FuzzFill: whatever an event says, an accepted form stays JSON, and no longer than its parts.
func FuzzFill(f *testing.F) {
	f.Add(`{"text": "{host}: {error}"}`, "a\"\\\n", "{host}\x00")
	f.Add(`["{error}{reason}"]`, "\xff", "</script>")
	f.Fuzz(func(t *testing.T, form, host, why string) {
		e := Event{Kind: Failed, Host: host, Gate: "g", Error: why, Reason: host}
		e.complete()
		if CheckBody(form) == nil && !json.Valid(e.fill(form)) {
			t.Errorf("%q becomes %q", form, e.fill(form))
		}
		for _, v := range e.environment() {
			if strings.Contains(v, "\x00") || !strings.HasPrefix(v, "WANDERD_EVENT") {
				t.Errorf("the variable %q", v)
			}
		}
	})
}

func TestURLsThatAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"https://u:p@chat.example.org/x?y": "", "http://127.0.0.1:9/": "", "http://[::1]/": "",
		"http://localhost/x":       "",
		"http://chat.example.org/": "not encrypted", "http://10.0.0.1/": "not encrypted", "ftp://x/": "neither",
		"chat.example.org": "not the URL", "https:///x": "not the URL", "https:x": "not the URL",
		"%zz://x":      "not the URL",
		"https://x/#y": "not the URL", "https://x/" + strings.Repeat("y", maxURL): "not the URL",
	} {
		err := CheckURL(text)
		if got := fmt.Sprint(err); want == "" && err != nil || want != "" && !strings.Contains(got, want) ||
			strings.Contains(got, "chat") {
			t.Errorf("%.40s: %v, want %q", text, err, want)
		}
	}
}

// served is what a web server has got.
type served struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []string
}

// serves starts a web server that gives one answer.
func serves(t *testing.T, answer http.HandlerFunc) *served {
	t.Helper()
	s := &served{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := make([]byte, 8<<10)
		n, _ := r.Body.Read(body)
		s.mu.Lock()
		s.bodies = append(s.bodies, string(body[:n]))
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func TestAWebhookTakesRefusesOrWaits(t *testing.T) {
	for code, want := range map[int]string{
		200: "", 204: "", 404: "refused", 400: "refused", 302: "refused", 429: "again", 503: "again", 408: "again",
	} {
		s := serves(t, status(code))
		err := post(Config{Webhook: s.URL + "/secret", Body: `{"text":"{event}"}`})(t.Context(), numbered(1))
		got := ""
		if _, refused := errors.AsType[errRefused](err); refused {
			got = "refused"
		} else if err != nil {
			got = "again"
		}
		if got != want || strings.Contains(fmt.Sprint(err), "secret") || s.bodies[0] != `{"text":"failed"}` {
			t.Errorf("%d: %q, %v, %q", code, got, err, s.bodies)
		}
	}
}

// A web server cannot send the event elsewhere, and its answer has no end that anybody waits for.
func TestAWebhookIsBounded(t *testing.T) {
	elsewhere := serves(t, status(200))
	s := serves(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
	})
	if err := post(Config{Webhook: s.URL})(t.Context(), numbered(1)); err == nil || len(elsewhere.bodies) > 0 {
		t.Errorf("redirected: %v, %q", err, elsewhere.bodies)
	}
	endless := serves(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = w.Write(make([]byte, 1024))
		}
	})
	if err := post(Config{Webhook: endless.URL})(t.Context(), numbered(1)); err != nil {
		t.Error(err)
	}
	if err := post(Config{Webhook: "http://127.0.0.1:1/secret"})(t.Context(), numbered(1)); err == nil ||
		strings.Contains(err.Error(), "secret") || !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
}

// The file of a secret URL is read again for each event, and is refused if others can read it.
func TestTheURLInAFile(t *testing.T) {
	a, b := serves(t, status(200)), serves(t, status(200))
	file := filepath.Join(t.TempDir(), "webhook")
	send := post(Config{WebhookFile: file})
	for _, s := range []*served{a, b} {
		if err := os.WriteFile(file, []byte(s.URL+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(CheckURLFile(file), send(t.Context(), numbered(1))); err != nil || len(s.bodies) != 1 {
			t.Errorf("%v, %q", err, s.bodies)
		}
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := CheckURLFile(file); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Error(err)
	}
	if err := send(t.Context(), numbered(1)); err == nil {
		t.Error("it is read")
	}
}

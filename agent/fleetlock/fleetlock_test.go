package fleetlock

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/lab/ports"
)

// patience allows for a busy machine.
const patience = 30 * time.Second

// pretendHost is a host whose reboots are granted when the test says so.
type pretendHost struct {
	grants chan error // each value answers one pre-reboot
	asked  chan string
	gone   chan struct{}
	mu     sync.Mutex
	steady []string
}

func newHost() *pretendHost {
	return &pretendHost{grants: make(chan error, 64), asked: make(chan string, 64), gone: make(chan struct{}, 64)}
}

func (h *pretendHost) PreReboot(ctx context.Context, client string) error {
	h.asked <- client
	select {
	case err := <-h.grants:
		return err
	case <-ctx.Done():
		h.gone <- struct{}{}
		return ctx.Err()
	}
}

func (h *pretendHost) SteadyState(_ context.Context, client string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.steady = append(h.steady, client)
	return nil
}

func serve(t *testing.T, h Host) (url string) {
	t.Helper()
	at := ports.For(t)
	s, err := Serve(at, "workers", h, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return "http://" + at
}

const params = `{"client_params": {"id": "c988", "group": "workers"}}`

// post sends a request as the protocol wants it, after change.
func post(t *testing.T, url, body string, change func(*http.Request)) (status int, kind, value string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("fleet-lock-protocol", "true")
	if change != nil {
		change(r)
	}
	resp, err := (&http.Client{Timeout: patience}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var a struct{ Kind, Value string }
	if err := json.Unmarshal(text, &a); err != nil || resp.Header.Get("Content-Type") != "application/json" {
		t.Errorf("the answer %q is no JSON, as some clients expect: %v", text, err)
	}
	return resp.StatusCode, a.Kind, a.Value
}

// "Every other code is considered as a failed operation", and Zincati takes any 2xx for a yes: what is refused has a
// 4xx or 5xx, and an error of kind and value.
func TestWhatIsNotOfTheProtocolIsRefused(t *testing.T) {
	h := newHost()
	url := serve(t, h)
	without := func(r *http.Request) { r.Header.Del("fleet-lock-protocol") }
	for _, c := range []struct {
		name, path, body string
		change           func(*http.Request)
		status           int
		kind             string
	}{
		{"no header", "/v1/pre-reboot", params, without, 400, "bad_request"},
		{"no header, steady", "/v1/steady-state", params, without, 400, "bad_request"},
		{"header with another value", "/v1/pre-reboot", params, func(r *http.Request) {
			r.Header.Set("fleet-lock-protocol", "1")
		}, 400, "bad_request"},
		{"GET", "/v1/pre-reboot", params, func(r *http.Request) { r.Method = http.MethodGet }, 405, "bad_request"},
		{"from a page", "/v1/pre-reboot", params, func(r *http.Request) {
			r.Header.Set("Origin", "http://127.0.0.1")
		}, 403, "bad_request"},
		{"another path", "/v2/pre-reboot", params, nil, 404, "no_such_path"},
		{"no body", "/v1/pre-reboot", "", nil, 400, "bad_request"},
		{"no JSON", "/v1/pre-reboot", "id=c988", nil, 400, "bad_request"},
		{"no params", "/v1/pre-reboot", "{}", nil, 400, "bad_request"},
		{"no id", "/v1/pre-reboot", `{"client_params": {"group": "workers"}}`, nil, 400, "bad_request"},
		{
			"a number as id", "/v1/pre-reboot", `{"client_params": {"id": 7, "group": "workers"}}`, nil,
			400, "bad_request",
		},
		{
			"a long id", "/v1/pre-reboot", strings.Replace(params, "c988", strings.Repeat("c", mostID+1), 1), nil,
			400, "bad_request",
		},
		{"no group", "/v1/pre-reboot", `{"client_params": {"id": "c988"}}`, nil, 400, "bad_request"},
		{
			"no name of a group", "/v1/pre-reboot", strings.Replace(params, "workers", "work_ers", 1), nil,
			400, "bad_request",
		},
		{"another group", "/v1/pre-reboot", strings.Replace(params, "workers", "default", 1), nil, 403, "other_group"},
		{
			"another group, steady", "/v1/steady-state", strings.Replace(params, "workers", "default", 1), nil,
			403, "other_group",
		},
		{"a long body", "/v1/pre-reboot", params + strings.Repeat(" ", mostBody), nil, 400, "bad_request"},
	} {
		status, kind, value := post(t, url+c.path, c.body, c.change)
		if status != c.status || kind != c.kind || value == "" {
			t.Errorf("%s: %d, %q, %q; want %d, %q", c.name, status, kind, value, c.status, c.kind)
		}
	}
	if len(h.asked) > 0 || len(h.steady) > 0 {
		t.Errorf("%d requests were passed on", len(h.asked)+len(h.steady))
	}
}

func TestTheAnswerWaitsForTheGrant(t *testing.T) {
	h := newHost()
	url := serve(t, h)
	answered := make(chan int, 1)
	go func() {
		status, _, _ := post(t, url+"/v1/pre-reboot", params, nil)
		answered <- status
	}()
	if id := <-h.asked; id != "c988" {
		t.Errorf("%q asks", id)
	}
	time.Sleep(ioTimeout + time.Second) // The time for reading a request does not count.
	if len(answered) > 0 || len(h.gone) > 0 {
		t.Fatal("answered before the grant")
	}
	h.grants <- nil
	if status := <-answered; status != http.StatusOK {
		t.Errorf("granted with %d", status)
	}
	h.grants <- errors.New("gate \"g\" is closed")
	if status, kind, value := post(t, url+"/v1/pre-reboot", params, nil); status != 503 || kind != "not_granted" ||
		!strings.Contains(value, "closed") {
		t.Errorf("refused with %d, %q, %q", status, kind, value)
	}
	if status, kind, _ := post(t, url+"/v1/steady-state", params, nil); status != 200 || kind != "granted" ||
		len(h.steady) != 1 {
		t.Errorf("steady: %d, %q", status, kind)
	}
}

// dial sends a request on a connection of its own, and returns the connection.
func dial(t *testing.T, url, request string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	return conn
}

func preReboot() string {
	return fmt.Sprintf("POST /v1/pre-reboot HTTP/1.1\r\nHost: a\r\nfleet-lock-protocol: true\r\n"+
		"Content-Length: %d\r\n\r\n%s", len(params), params)
}

func TestAClientThatGoesEndsItsWait(t *testing.T) {
	h := newHost()
	conn := dial(t, serve(t, h), preReboot())
	<-h.asked
	_ = conn.Close()
	select {
	case <-h.gone:
	case <-time.After(patience):
		t.Error("the wait goes on")
	}
}

func TestAtMostEightRequestsAreServedAtOnce(t *testing.T) {
	h := newHost()
	url := serve(t, h)
	for range mostRequests {
		dial(t, url, preReboot())
	}
	for range mostRequests {
		<-h.asked
	}
	for _, path := range []string{"/v1/pre-reboot", "/v1/steady-state"} {
		if status, kind, _ := post(t, url+path, params, nil); status != 429 || kind != "too_many_requests" {
			t.Errorf("%s: %d, %q", path, status, kind)
		}
	}
	h.grants <- nil
	for deadline := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if status, _, _ := post(t, url+"/v1/steady-state", params, nil); status == 200 {
			break
		} else if time.Now().After(deadline) {
			t.Fatal("a request that was answered still counts")
		}
	}
}

// A client that sends its request slowly, or none, is cut off; one that waits for its grant is not, however many
// connect.
func TestConnectionsAreBounded(t *testing.T) {
	h := newHost()
	url := serve(t, h)
	waits := dial(t, url, preReboot())
	<-h.asked
	slow := dial(t, url, "POST /v1/pre-reboot HTTP/1.1\r\n")
	for range 2 * mostConnections {
		dial(t, url, "")
	}
	_ = slow.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.ReadAll(slow); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("half of a request is waited for")
	}
	h.grants <- nil
	_ = waits.SetReadDeadline(time.Now().Add(patience))
	resp, err := http.ReadResponse(bufio.NewReader(waits), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("it is answered with %d", resp.StatusCode)
	}
}

func TestALongHeaderIsRefused(t *testing.T) {
	h := newHost()
	conn := dial(t, serve(t, h), "POST /v1/pre-reboot HTTP/1.1\r\nHost: a\r\nX: ")
	_, _ = io.WriteString(conn, strings.Repeat("x", 4*mostHeader)+"\r\n\r\n") // It may be closed before the end.
	_ = conn.SetReadDeadline(time.Now().Add(patience))
	if text, _ := io.ReadAll(conn); !strings.HasPrefix(string(text), "HTTP/1.1 431 ") || len(h.asked) > 0 {
		t.Errorf("%q", text)
	}
}

// "Only the client that created a lock can release it."
func TestTheFirstClientIsTheOneOfThisHost(t *testing.T) {
	h := newHost()
	url := serve(t, h)
	if status, _, _ := post(t, url+"/v1/steady-state", params, nil); status != 200 {
		t.Errorf("the first client: %d", status)
	}
	other := strings.Replace(params, "c988", "d988", 1)
	for _, path := range []string{"/v1/pre-reboot", "/v1/steady-state"} {
		if status, kind, _ := post(t, url+path, other, nil); status != 403 || kind != "other_client" {
			t.Errorf("%s of another client: %d, %q", path, status, kind)
		}
	}
}

func TestOnlyTheLoopbackInterfaceIsServed(t *testing.T) {
	for _, at := range []string{"0.0.0.0:9090", "[::]:9090", "192.0.2.1:9090", "localhost:9090", ":9090", "127.0.0.1"} {
		if s, err := Serve(at, "workers", newHost(), zerolog.Nop()); err == nil {
			t.Errorf("%s is served", at)
			_ = s.Close()
		}
	}
}

// FuzzRead: no request is a yes unless it is well-formed.
func FuzzRead(f *testing.F) {
	f.Add("true", params)
	f.Add("TRUE", `{"client_params": {"ID": "c988", "Group": "workers"}}`)
	f.Add("true", `{"client_params": null}`)
	f.Fuzz(func(t *testing.T, header, body string) {
		s := &Server{group: "workers"}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/pre-reboot", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("fleet-lock-protocol", header)
		id, refusal := s.read(discard{}, r)
		switch {
		case refusal.status == 0 && (id == "" || len(id) > mostID || header != "true" || len(body) > mostBody):
			t.Errorf("%q with header %q is of the client %q", body, header, id)
		case refusal.status != 0 && (refusal.status < 400 || refusal.Kind == "" || refusal.Value == ""):
			t.Errorf("refused with %+v", refusal)
		}
	})
}

// discard is an answer that nobody reads.
type discard struct{}

func (discard) Header() http.Header            { return http.Header{} }
func (discard) Write(text []byte) (int, error) { return len(text), nil }
func (discard) WriteHeader(int)                {}

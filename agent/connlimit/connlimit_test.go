package connlimit

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// patience allows for a busy machine.
const patience = 30 * time.Second

func TestTheOldestConnectionMakesRoom(t *testing.T) {
	const most = 4
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("hello"))
	}))
	Bound(server.Config, most)
	server.Start()
	defer server.Close()
	var open []net.Conn
	for i := range 3 * most {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		if i%2 == 0 {
			_, _ = conn.Write([]byte("GET / HT")) // and nothing more
		}
		open = append(open, conn)
	}
	for i, conn := range open[:2*most] {
		_ = conn.SetReadDeadline(time.Now().Add(patience))
		if _, err := conn.Read(make([]byte, 1)); err == nil || isTimeout(err) {
			t.Errorf("the connection %d of %d is open: %v", i, len(open), err)
		}
	}
	resp, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if text, err := io.ReadAll(resp.Body); string(text) != "hello" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

func TestAConnectionThatIsTakenOverCountsNoLonger(t *testing.T) {
	taken := make(chan net.Conn, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/taken" {
			conn, _, _ := http.NewResponseController(w).Hijack()
			taken <- conn
		}
	}))
	Bound(server.Config, 1)
	server.Start()
	defer server.Close()
	caller, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = caller.Close() }()
	_, _ = io.WriteString(caller, "GET /taken HTTP/1.1\r\nHost: a\r\n\r\n")
	ours := <-taken
	defer func() { _ = ours.Close() }()
	for range 3 {
		resp, err := server.Client().Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		server.Client().CloseIdleConnections()
	}
	_, _ = io.WriteString(ours, "x")
	_ = caller.SetReadDeadline(time.Now().Add(patience))
	if _, err := caller.Read(make([]byte, 1)); err != nil {
		t.Errorf("it was closed: %v", err)
	}
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

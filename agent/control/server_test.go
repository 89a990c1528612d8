package control

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// told is a Source with fixed answers.
type told struct {
	status  Status
	members Members
	history History
	now     Now
	fleet   Fleet
	runs    FleetHistory
	which   *Which
	err     error
}

func (s told) Status(context.Context) (Status, error)         { return s.status, s.err }
func (s told) Members(context.Context) (Members, error)       { return s.members, s.err }
func (s told) Drain(context.Context) error                    { return s.err }
func (s told) Reload(context.Context) (Reloaded, error)       { return Reloaded{}, s.err }
func (told) Metrics() http.Handler                            { return http.NotFoundHandler() }
func (s told) GiveDirective(context.Context, Directive) error { return s.err }
func (s told) RunNow(context.Context, RunNow) (RunEnd, error) {
	return RunEnd{}, s.err
}

func (s told) Renew(context.Context, Renew) (Renewed, error) {
	return Renewed{}, s.err
}
func (s told) Forget(context.Context, Forget) (Forgot, error) { return Forgot{}, s.err }
func (s told) Keep(context.Context, Keep) error               { return s.err }

func (s told) Exec(ExecRequest, io.ReadWriter) error    { return s.err }
func (s told) History(context.Context) (History, error) { return s.history, s.err }
func (s told) Now(context.Context) (Now, error)         { return s.now, s.err }
func (s told) Fleet(context.Context) (Fleet, error)     { return s.fleet, s.err }
func (s told) FleetHistory(_ context.Context, which Which) (FleetHistory, error) {
	if s.which != nil {
		*s.which = which
	}
	return s.runs, s.err
}

func serve(t *testing.T, src Source) (path string) {
	t.Helper()
	path = filepath.Join(shortDir(t), "s")
	s, err := Serve(path, "", src, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return path
}

func TestClientReadsTheAnswersOfTheSource(t *testing.T) {
	at := time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC)
	want := told{
		status: Status{
			Version: "v1", Name: "m1", Member: "3f2a", Address: "127.0.0.1:7946", Started: at, Sealed: true, Members: 3,
			Gates: []Gate{{
				Name: "default", Policy: "wander", State: "resting", Members: 3,
				Whereabouts: Whereabouts{Holding: true, Holder: "3f2a", HolderSince: at, Seq: 17},
				NotRunning:  "ran less than min_interval ago", LastRun: at,
				LastTook: Duration(3 * time.Second), LastExit: "ok", Skip: Duration(time.Second), Load: 0.02,
				Slots: 2,
				Tokens: []Slot{{Slot: 0, State: "absent"}, {Slot: 1, State: "resting", Whereabouts: Whereabouts{
					Holding: true, Holder: "3f2a", Guardians: []Guardian{{Member: "9c1d", Name: "m2"}},
				}}},
				Notes: map[string]uint64{"passed": 3},
			}},
			Dropped: map[string]uint64{"malformed": 2},
		},
		members: Members{
			Members: []Member{{Name: "m1", Member: "3f2a", State: "alive", Self: true, Gates: []string{"default"}}},
		},
		now: Now{Tokens: []Holder{{Gate: "default", Name: "m2", Running: true, RunningSince: at}}},
		fleet: Fleet{
			Asked: at, Members: []FleetMember{{Member: Member{Name: "m2"}, Missing: "failed"}},
			Now: Now{Tokens: []Holder{{Gate: "default"}}},
		},
		runs:  FleetHistory{Asked: at, Members: []MemberHistory{{Member: Member{Name: "m2"}, History: &History{}}}},
		which: new(Which),
	}
	client := Dial(serve(t, want))
	if got, err := client.Status(t.Context()); err != nil || !cmp.Equal(got, want.status) {
		t.Errorf("status: %v\n%s", err, cmp.Diff(want.status, got))
	}
	if got, err := client.Members(t.Context()); err != nil || !cmp.Equal(got, want.members) {
		t.Errorf("members: %v\n%s", err, cmp.Diff(want.members, got))
	}
	if got, err := client.Now(t.Context()); err != nil || !cmp.Equal(got, want.now) {
		t.Errorf("now: %v\n%s", err, cmp.Diff(want.now, got))
	}
	if got, err := client.Fleet(t.Context()); err != nil || !cmp.Equal(got, want.fleet) {
		t.Errorf("fleet: %v\n%s", err, cmp.Diff(want.fleet, got))
	}
	for _, which := range []Which{{}, {Gate: "a&b", Failed: true, Since: at}} {
		got, err := client.FleetHistory(t.Context(), which)
		if err != nil || !cmp.Equal(got, want.runs) || !cmp.Equal(*want.which, which) {
			t.Errorf("history of the fleet: %v\n%s%s", err, cmp.Diff(want.runs, got), cmp.Diff(which, *want.which))
		}
	}
}

func TestAWrongRequestIsTheCallersMistake(t *testing.T) {
	socket := serve(t, told{})
	for method, path := range map[string]string{
		http.MethodGet: pathFleetHistory + "?since=yesterday", http.MethodPost: pathRun,
	} {
		if resp := ask(t, socket, method, path); resp.StatusCode != http.StatusBadRequest {
			t.Errorf("%s %s: %s", method, path, resp.Status)
		}
	}
}

func TestErrorsOfTheSourceReachTheClient(t *testing.T) {
	client := Dial(serve(t, told{err: errors.New("the agent is stopping")}))
	if _, err := client.Status(t.Context()); err == nil || !strings.Contains(err.Error(), "the agent is stopping") {
		t.Errorf("status: %v", err)
	}
	if _, err := client.Members(t.Context()); err == nil || !strings.Contains(err.Error(), "the agent is stopping") {
		t.Errorf("members: %v", err)
	}
}

func connect(t *testing.T, socket string) net.Conn {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// ask sends one request.
func ask(t *testing.T, socket, method, path string) *http.Response {
	t.Helper()
	conn := connect(t, socket)
	req, err := http.NewRequestWithContext(t.Context(), method, "http://wanderd"+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if err := req.Write(conn); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func TestAnswerToAnUnknownPathListsThePaths(t *testing.T) {
	for _, path := range []string{"/", "/v2/status", "/v1/status/", "/v1"} {
		resp := ask(t, serve(t, told{}), http.MethodGet, path)
		var f failure
		if err := json.NewDecoder(resp.Body).Decode(&f); err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusNotFound ||
			!cmp.Equal(f.Paths, []string{
				"/metrics", "/v1/drain", "/v1/exec", "/v1/fleet", "/v1/fleet/history", "/v1/forget",
				"/v1/history", "/v1/keep", "/v1/members", "/v1/now", "/v1/order", "/v1/reload", "/v1/renew", "/v1/run",
				"/v1/status",
			}) {
			t.Errorf("%s: %s, %+v", path, resp.Status, f)
		}
	}
}

func TestOnlyReadingIsAllowed(t *testing.T) {
	path := serve(t, told{})
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		resp := ask(t, path, method, pathStatus)
		if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "GET, HEAD" {
			t.Errorf("%s: %s, Allow %q", method, resp.Status, resp.Header.Get("Allow"))
		}
	}
	if resp := ask(t, path, http.MethodHead, pathStatus); resp.StatusCode != http.StatusOK {
		t.Errorf("HEAD: %s", resp.Status)
	}
}

func TestHugeHeadersAreRefused(t *testing.T) {
	resp := ask(t, serve(t, told{}), http.MethodGet, pathStatus+"?"+strings.Repeat("x", 64<<10))
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("64 KiB of request line: %s", resp.Status)
	}
}

// Close returns although the agent does not answer a request.
func TestCloseDoesNotWaitForever(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	asked := make(chan struct{})
	s, err := Serve(path, "", stuck{asked: asked}, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() {
		_, err := Dial(path).Status(context.Background())
		answered <- err
	}()
	<-asked
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-answered; err == nil {
		t.Error("an answer came from nowhere")
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
}

// stuck is a Source that blocks until ctx is done.
type stuck struct {
	told
	asked chan struct{}
}

func (s stuck) Status(ctx context.Context) (Status, error) {
	close(s.asked)
	<-ctx.Done()
	return Status{}, ctx.Err()
}

func TestMissingAgentIsErrNoAgent(t *testing.T) {
	dir := shortDir(t)
	dead := filepath.Join(dir, "dead")
	deadSocket(t, dead)
	for _, path := range []string{dead, filepath.Join(dir, "missing"), filepath.Join(dead, "below", "a", "file")} {
		if _, err := Dial(path).Status(t.Context()); !errors.Is(err, ErrNoAgent) ||
			!strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v; want ErrNoAgent with the path", path, err)
		}
	}
	if _, err := Dial("/" + strings.Repeat("x", maxPath)).Status(t.Context()); err == nil ||
		errors.Is(err, ErrNoAgent) {
		t.Errorf("a path that no agent can have: %v", err)
	}
}

func TestMissingPermissionNamesTheRemedy(t *testing.T) {
	client := Dial("/run/wanderd.sock")
	err := client.explain(&net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.EACCES)})
	if !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), "run this as the user that runs the agent") {
		t.Error(err)
	}
	own := filepath.Join(shortDir(t), "s")
	deadSocket(t, own)
	who := "run this as root, with sudo"
	if os.Geteuid() != 0 {
		who = "run this as user "
	}
	if err := notPermitted(own); !strings.Contains(err.Error(), who) {
		t.Error(err)
	}
}

func TestForeignServerIsNotMistakenForAnAgent(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("hello"))
	}), ReadHeaderTimeout: ioTimeout}
	done := make(chan struct{})
	go func() { defer close(done); _ = srv.Serve(l) }()
	defer func() { _ = srv.Close(); <-done }()
	if _, err := Dial(path).Members(t.Context()); err == nil || !strings.Contains(err.Error(), "another version") {
		t.Error(err)
	}
}

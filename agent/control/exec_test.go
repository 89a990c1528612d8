package control

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"
)

// granting is a Source that answers each request with its text.
type granting struct {
	told
	requests chan ExecRequest
	says     string
	ended    chan string
}

func (s granting) Exec(asks ExecRequest, conn io.ReadWriter) error {
	s.requests <- asks
	if s.says == "" {
		return &Refusal{Reason: Busy, Text: "it is in use"}
	}
	_, _ = io.WriteString(conn, s.says)
	line, _ := bufio.NewReader(conn).ReadString('\n')
	s.ended <- line
	return nil
}

// askRun asks the agent on a socket for a run.
func askRun(t *testing.T, path string, c ExecRequest) *Asked {
	t.Helper()
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	asked, err := Dial(path).Connect(os.NewFile(uintptr(fd), "socket"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = asked.Close() })
	if err := asked.Ask(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return asked
}

func newGranting(says string) granting {
	return granting{requests: make(chan ExecRequest, 1), says: says, ended: make(chan string, 1)}
}

// The kernel reports who calls. What the agent writes after the grant reaches the guard, to the last byte.
func TestARequestIsGranted(t *testing.T) {
	const grant, rest = `{"env":["A=b"]}`, `{"go":true}`
	src := newGranting(`{"grant":` + grant + "}\n" + rest)
	asked := askRun(t, serve(t, src), ExecRequest{Gate: "g", Command: "sync.sh", NonBlock: true, PID: 1})
	if got, want := <-src.requests, (ExecRequest{
		Gate: "g", Command: "sync.sh", NonBlock: true, PID: os.Getpid(),
	}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	got, heard, err := asked.Answer()
	if err != nil || string(got) != grant {
		t.Errorf("%s, %v", got, err)
	}
	for len(strings.TrimSpace(string(heard))) < len(rest) { // perhaps it comes later than the grant
		more := make([]byte, 100)
		n, err := asked.Read(more)
		if err != nil {
			t.Fatal(err)
		}
		heard = append(heard, more[:n]...)
	}
	if strings.TrimSpace(string(heard)) != rest {
		t.Errorf("beyond the grant: %q", heard)
	}
	if _, err := io.WriteString(asked, "over\n"); err != nil {
		t.Fatal(err)
	}
	if line := <-src.ended; line != "over\n" {
		t.Errorf("the source reads %q", line)
	}
	_ = asked.Close()
}

func TestARequestIsRefused(t *testing.T) {
	src := newGranting("")
	asked := askRun(t, serve(t, src), ExecRequest{Command: "x"})
	_, _, err := asked.Answer()
	if refusal, ok := errors.AsType[*Refusal](err); !ok || refusal.Reason != Busy || refusal.Text != "it is in use" {
		t.Errorf("%v", err)
	}
}

func TestACallerIsToldThatTheAgentHasGone(t *testing.T) {
	src := newGranting("\n")
	asked := askRun(t, serve(t, src), ExecRequest{Command: "x"})
	_ = asked.CloseWrite() // so the source ends
	if _, _, err := asked.Answer(); !errors.Is(err, ErrNoAgent) {
		t.Errorf("%v", err)
	}
}

func TestAnAnswerThatIsTooLongIsNotReadToItsEnd(t *testing.T) {
	asked := askRun(t, serve(t, newGranting(`{"grant":"`+strings.Repeat("a", 2*maxAnswered)+"\"}\n")),
		ExecRequest{Command: "x"})
	if grant, heard, err := asked.Answer(); !errors.Is(err, ErrNoAgent) || len(grant)+len(heard) > 0 {
		t.Errorf("%d bytes, and %d after them, %v", len(grant), len(heard), err)
	}
}

// The other end of a connection learns at once that its caller has gone.
func TestTheSourceIsToldThatACallerHasGone(t *testing.T) {
	src := newGranting(`{"grant":{}}`)
	asked := askRun(t, serve(t, src), ExecRequest{Command: "x"})
	_ = asked.Close()
	if line := <-src.ended; line != "" {
		t.Errorf("it reads %q", line)
	}
}

func TestAMalformedExecRequestIsRefused(t *testing.T) {
	for _, c := range []struct {
		method, upgrade, body string
		want                  int
	}{
		{http.MethodGet, upgrade, "{}", http.StatusMethodNotAllowed},
		{http.MethodPost, "", "{}", http.StatusBadRequest},
		{http.MethodPost, upgrade, "no document", http.StatusBadRequest},
		{http.MethodPost, upgrade, `{"command":"` + strings.Repeat("x", maxRequest) + `"}`, http.StatusBadRequest},
	} {
		conn := connect(t, serve(t, told{}))
		_, _ = fmt.Fprintf(conn,
			"%s %s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: %s\r\nContent-Length: %d\r\n\r\n%s",
			c.method, pathExec, c.upgrade, len(c.body), c.body)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		var f failure
		if err := json.NewDecoder(resp.Body).Decode(&f); err != nil || f.Error == "" || resp.StatusCode != c.want {
			t.Errorf("%+.40v: %s, %+v, %v", c, resp.Status, f, err)
		}
		_ = resp.Body.Close()
	}
}

func TestOnlyTheSocketsUserAndGroupAreAdmitted(t *testing.T) {
	own := uint32(os.Geteuid())
	for _, c := range []struct {
		group int
		who   peer
		want  bool
	}{
		{-1, peer{user: own}, true},
		{-1, peer{user: 0}, true},
		{-1, peer{user: own + 1, groups: []uint32{5}}, own+1 == 0},
		{5, peer{user: own + 1, groups: []uint32{4, 5}}, true},
		{5, peer{user: own + 1, groups: []uint32{4, 6}}, false},
	} {
		if got := (&socket{group: c.group}).admits(c.who); got != c.want {
			t.Errorf("%+v at a socket of group %d: %v", c.who, c.group, got)
		}
	}
}

func TestTheSocketOfAGroup(t *testing.T) {
	g, err := user.LookupGroupId(fmt.Sprint(os.Getegid()))
	if err != nil {
		t.Skip(err)
	}
	dir := shortDir(t)
	if err := os.Chmod(dir, 0o711); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s")
	s, err := Serve(path, g.Name, told{status: Status{Name: "m1"}}, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o660 ||
		s.(*Server).socket.group != os.Getegid() {
		t.Errorf("%v, group %d, %v", info.Mode(), s.(*Server).socket.group, err)
	}
	if got, err := Dial(path).Status(t.Context()); err != nil || got.Name != "m1" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAGroupThatCannotHaveTheSocketIsRefusedWithTheRemedy(t *testing.T) {
	dir := shortDir(t) // only its owner can reach it
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for group, want := range map[string]string{
		"no-such-group":          "groupadd",
		fmt.Sprint(os.Getegid()): "/run/wanderd",
	} {
		if _, err := Serve(filepath.Join(dir, "s"), group, told{}, zerolog.Nop()); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", group, err)
		}
		if _, err := os.Stat(filepath.Join(dir, "s")); err == nil {
			t.Error("the socket is there all the same")
		}
	}
}

// What the kernel reports of this process is true.
func TestCredentialsAreThoseOfThePeer(t *testing.T) {
	src := newGranting(`{"grant":{}}`)
	path := serve(t, src)
	asked := askRun(t, path, ExecRequest{Command: "x"})
	raw, err := asked.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var p peer
	var known bool
	_ = raw.Control(func(fd uintptr) { p, known = credentials(int(fd)) })
	if !known {
		t.Skip("this system does not tell")
	}
	if p.pid != os.Getpid() || p.user != uint32(os.Geteuid()) || len(p.groups) == 0 ||
		p.groups[0] != uint32(os.Getegid()) {
		t.Errorf("%+v", p)
	}
	all, err := os.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	if len(p.groups) != 1+len(all) {
		t.Errorf("groups %v, and this process is in %v", p.groups, all)
	}
}

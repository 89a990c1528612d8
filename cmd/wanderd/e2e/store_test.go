package e2e

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// store is a resource that checks fencing numbers: it holds a text, and refuses a client whose number is below the
// greatest that it has seen. A number counts as seen when its holder reads, not only when it writes: what a later
// holder has read must not change.
type store struct {
	// checks is true if it looks at the numbers at all.
	checks bool

	mu       sync.Mutex
	text     string
	greatest uint64
	// accepted are the numbers whose write was acknowledged, refused those whose write was refused.
	accepted, refused []string
}

func (s *store) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	number := r.FormValue("seq")
	seq, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if s.checks && seq < s.greatest {
		s.refused = append(s.refused, number)
		w.WriteHeader(http.StatusConflict)
		return
	}
	s.greatest = max(s.greatest, seq)
	if r.Method == http.MethodGet {
		_, _ = io.WriteString(w, s.text)
		return
	}
	text, _ := io.ReadAll(r.Body)
	s.text = string(text)
	s.accepted = append(s.accepted, number)
}

// want checks that the text has every number whose write was acknowledged.
func (s *store) want(t *testing.T, whole bool, refused int) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if got := strings.Join(s.accepted, "\n") + "\n"; (got == s.text) != whole || len(s.refused) != refused {
		t.Errorf("acknowledged: %q, refused: %q, and the store holds %q", s.accepted, s.refused, s.text)
	}
}

// storeClient is the first argument with which this program adds its number to a store:
//
//	e2e.test store-client URL [READ GO]
//
// Between reading and writing, the client writes its process number to a file, and waits for another file.
const storeClient = "store-client"

// The exit code of a client whose write was refused.
const exitRefused = 3

func runStoreClient(args []string) (code int) {
	url := args[0] + "?seq=" + os.Getenv("WANDERD_SEQ")
	answer := func(resp *http.Response, err error) string {
		if err != nil {
			panic(err)
		}
		defer func() { _ = resp.Body.Close() }()
		text, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != http.StatusOK {
			code = exitRefused
		}
		return string(text)
	}
	text := answer(http.Get(url))
	if len(args) == 3 {
		if err := os.WriteFile(args[1], fmt.Appendln(nil, os.Getpid()), 0o600); err != nil {
			panic(err)
		}
		for {
			if _, err := os.Stat(args[2]); err == nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
	}
	answer(http.Post(url, "text/plain", strings.NewReader(text+os.Getenv("WANDERD_SEQ")+"\n")))
	return code
}

// A host stands still with everything on it, between the reading and the writing of its command, until another one has
// been granted the gate and has written. Then the command goes on before its guard does. No gate can help against that;
// the fencing number does.
func TestAResourceThatChecksTheNumberLosesNothing(t *testing.T) {
	t.Parallel()
	strict := []string{`roster = ["m1", "m2", "m3"]`, `lease = "3s"`, `kill_after = "300ms"`}
	for policy, settings := range map[string][]string{"wander": nil, "tree": strict, "ring": strict} {
		for _, checks := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, checks %v", policy, checks), func(t *testing.T) {
				t.Parallel()
				pauseBetweenReadingAndWriting(t, &store{checks: checks},
					slices.Concat(settings, []string{`policy = "` + policy + `"`}))
			})
		}
	}
}

func pauseBetweenReadingAndWriting(t *testing.T, s *store, settings []string) {
	server := httptest.NewServer(s)
	defer server.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	f := onDemand(t, 3, settings...)
	f.start()
	for _, n := range f.nodes {
		until(t, n.name+" sees the others", func() bool {
			s, ok := n.status()
			return ok && s.Members == 3
		})
		n.exec("--", self, storeClient, server.URL).wantCode(0, "")
	}
	n := f.nodes[0]
	read, goes := filepath.Join(f.dir, "read"), filepath.Join(f.dir, "go")
	c := n.exec("--", self, storeClient, server.URL, read, goes).begin()
	command := pidIn(t, read)
	guard := parentOf(t, command)
	for _, pid := range []int{n.cmd.Process.Pid, c.Process.Pid, guard, command} {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
	}
	f.nodes[1].exec("--", self, storeClient, server.URL).wantCode(0, "")
	if err := os.WriteFile(goes, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(command, syscall.SIGCONT)
	until(t, "the command has tried to write", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.refused)+len(s.accepted) == 5
	})
	for _, pid := range []int{guard, c.Process.Pid, n.cmd.Process.Pid} {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	if code := c.code(); s.checks && code == 0 {
		t.Error("the call succeeds, and the write was refused")
	}
	if !s.checks {
		s.want(t, false, 0)
		return
	}
	f.nodes[2].exec("--", self, storeClient, server.URL).wantCode(0, "")
	s.want(t, true, 1)
}

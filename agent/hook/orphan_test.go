package hook

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// ear is a socket that receives pre-signed releases.
type ear struct{ *net.UDPConn }

func newEar(t *testing.T) ear {
	t.Helper()
	conn, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return ear{conn}
}

func (e ear) addr() string { return e.LocalAddr().String() }

// hears waits for a datagram; empty if none comes.
func (e ear) hears(within time.Duration) string {
	buf := make([]byte, 100)
	_ = e.SetReadDeadline(time.Now().Add(within))
	n, _ := e.Read(buf)
	return string(buf[:n])
}

// held reports whether a process holds the FIFO now.
func (w *witness) held(t *testing.T) bool {
	t.Helper()
	fd, err := syscall.Open(w.path, syscall.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Close(fd) }()
	_ = w.r.Close() // the writer that is ourselves
	for buf := make([]byte, 100); ; {
		n, err := syscall.Read(fd, buf)
		if n <= 0 {
			return err == syscall.EAGAIN
		}
	}
}

// obstinate ignores every request to end, and so does its child. It reports each of them.
const obstinate = "trap 'echo told >&9' TERM; (trap '' TERM; while :; do sleep 1000; done) & echo ready; while :; do " +
	"sleep 0.01; done"

// The agent has told the guard to stop the hook, and the hook has a long grace for that. When the agent dies, nothing
// of that grace is left.
func TestTheGuardSpeaksWhenNothingIsLeftOfTheHook(t *testing.T) {
	w, first, second := newWitness(t), newEar(t), newEar(t)
	killAgentOf(t, w, 50*time.Millisecond, obstinate, first.addr(), second.addr())
	for i := range releaseTimes {
		for _, e := range []ear{first, second} {
			if got, want := e.hears(patience), "dead: "+e.addr(); got != want {
				t.Fatalf("the guard says %q, want %q", got, want)
			}
		}
		if i == 0 && w.held(t) {
			t.Error("the guard has spoken, and the hook lives")
		}
	}
	if got := first.hears(100 * time.Millisecond); got != "" {
		t.Errorf("the guard goes on: %q", got)
	}
}

// If the hook has ended by itself, or a living agent has ended it, a token may have been passed on.
func TestTheGuardOfAHookThatIsOverSaysNothing(t *testing.T) {
	for name, script := range map[string]string{
		"by itself":       "echo ready >&9; exit 0",
		"by being killed": "echo ready >&9; kill -9 $$",
		"by being told":   "echo ready >&9; exec sleep 1000",
	} {
		t.Run(name, func(t *testing.T) {
			w, e := newWitness(t), newEar(t)
			run, _ := start(t, shell("exec 9>"+w.path+"; "+script))
			run.PreSigned([]Word{{To: e.LocalAddr().(*net.UDPAddr).AddrPort(), Datagram: []byte("dead")}})
			w.line(t)
			run.Stop()
			await(t, run)
			if got := e.hears(100 * time.Millisecond); got != "" {
				t.Errorf("the guard says %q", got)
			}
		})
	}
}

// If all processes are killed that have the agent's name, or have it in their arguments, the guard goes on with its
// duty.
func TestTheGuardHasANameOfItsOwn(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("nothing tells the names of processes")
	}
	w := newWitness(t)
	run, _ := start(t, shell("echo $PPID >"+w.path+"; exec sleep 1000"))
	dir := filepath.Join("/proc", w.line(t))
	for file, want := range map[string]string{"comm": GuardName + "\n", "cmdline": GuardName + "\x00"} {
		if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != want {
			t.Errorf("its %s is %q, want %q (%v)", file, got, want, err)
		}
	}
	run.Stop()
	await(t, run)
}

// After kill -9 of agent and guard together, nobody is left to end the hook. Its first process dies all the same.
func TestTheHookDiesWithItsGuardWhenTheAgentIsDeadToo(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("no signal at the parent's death")
	}
	w := newWitness(t)
	agent := startAgentOf(t, w, patience, "trap '' TERM; echo $PPID >&9; while :; do sleep 0.01; done")
	guard, err := strconv.Atoi(w.line(t))
	if err != nil {
		t.Fatal(err)
	}
	_ = agent.Process.Signal(syscall.SIGSTOP) // or it would see to the hook first
	_ = syscall.Kill(guard, syscall.SIGKILL)
	_ = agent.Process.Kill()
	_ = agent.Wait()
	w.gone(t)
}

// pidIn waits for a file with a process number in it.
func pidIn(t *testing.T, path string) int {
	t.Helper()
	return eventually(t, func() (int, bool) {
		text, _ := os.ReadFile(path)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		return pid, err == nil && strings.HasSuffix(string(text), "\n")
	})
}

// A guard that gets no task does nothing.
func TestAGuardWithoutATaskEnds(t *testing.T) {
	agent := fmt.Sprintf("exec -a %s /proc/self/exe 3</dev/null 4>/dev/null 2>&1", GuardName)
	run, log := start(t,
		Spec{Argv: []string{
			"/bin/bash", "-c", strings.Replace(agent, "/proc/self/exe", os.Args[0], 1),
		}, Limits: Limits{Timeout: patience}})
	if r := await(t, run); r.Exit != exitUsage || !log.has(t, "internal use") {
		t.Errorf("%+v", r)
	}
}

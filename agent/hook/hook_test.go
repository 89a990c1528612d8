package hook

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// patience bounds every wait of a test; only a defect makes one last that long.
const patience = 30 * time.Second

// logged is what a run wrote to the log.
type logged struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

type entry struct{ Level, Stream, Message string }

func (l *logged) entries(t *testing.T) []entry {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []entry
	for line := range bytes.Lines(l.buf.Bytes()) {
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		all = append(all, e)
	}
	return all
}

// has reports whether a message of the log contains text.
func (l *logged) has(t *testing.T, text string) bool {
	t.Helper()
	for _, e := range l.entries(t) {
		if strings.Contains(e.Message, text) {
			return true
		}
	}
	return false
}

func shell(script string) Spec {
	return Spec{
		Argv: []string{"/bin/sh", "-c", script}, Env: os.Environ(), Limits: Limits{Timeout: patience, Grace: patience},
	}
}

func start(t *testing.T, spec Spec) (*Run, *logged) {
	t.Helper()
	log := &logged{}
	spec.Log = testLog{zerolog.New(log)}
	run, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(run.Stop)
	return run, log
}

func await(t *testing.T, run *Run) Result {
	t.Helper()
	select {
	case r := <-run.Done():
		return r
	case <-time.After(2 * patience):
		t.Fatal("the run never ends")
		return Result{}
	}
}

// witness is a FIFO that a hook opens for writing. Its reader meets the end when every process that holds it is dead.
type witness struct {
	path string
	r    *os.File
}

func newWitness(t *testing.T) *witness {
	t.Helper()
	path := filepath.Join(t.TempDir(), "witness")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	// Opened for both, so that it neither blocks here nor ends before the hook has opened it.
	r, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return &witness{path: path, r: r}
}

// line waits for the hook to write a line.
func (w *witness) line(t *testing.T) string {
	t.Helper()
	_ = w.r.SetReadDeadline(time.Now().Add(patience))
	line, err := bufio.NewReaderSize(w.r, 16).ReadString('\n')
	if err != nil {
		t.Fatalf("waiting for the hook: %v", err)
	}
	return strings.TrimSpace(line)
}

// gone waits for the death of every process that holds the FIFO.
func (w *witness) gone(t *testing.T) {
	t.Helper()
	r, err := os.OpenFile(w.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	_ = w.r.Close() // the writer that is ourselves
	_ = r.SetReadDeadline(time.Now().Add(patience))
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Fatalf("a process of the hook lives on: %v", err)
	}
}

func TestExitStatusZeroIsSuccess(t *testing.T) {
	run, log := start(t, shell("echo out; echo err >&2; exec <&0 cat"))
	if r := await(t, run); r.Err != nil || r.Exit != 0 || r.Signal != "" || r.TimedOut || r.Stopped || r.Leftovers ||
		r.Detached {
		t.Fatalf("%+v", r)
	}
	got := map[entry]bool{}
	for _, e := range log.entries(t) {
		got[e] = true
	}
	want := []entry{{"info", "stdout", "out"}, {"warn", "stderr", "err"}}
	if len(got) != len(want) || !got[want[0]] || !got[want[1]] {
		t.Errorf("log: %v, want %v", got, want)
	}
}

func TestTheExitStatusIsExact(t *testing.T) {
	for script, want := range map[string]Result{
		"exit 3":        {Exit: 3},
		"exit 255":      {Exit: 255},
		"kill -KILL $$": {Exit: -1, Signal: "SIGKILL"},
		"kill -USR1 $$": {Exit: -1, Signal: "SIGUSR1"},
	} {
		t.Run(script, func(t *testing.T) {
			run, _ := start(t, shell(script))
			r := await(t, run)
			if r.Exit != want.Exit || r.Signal != want.Signal || r.TimedOut || r.Stopped {
				t.Errorf("%+v, want %+v", r, want)
			}
			if r.Err == nil || !strings.Contains(r.Err.Error(), cmp.Or(want.Signal, strconv.Itoa(want.Exit))) {
				t.Errorf("error %v does not name the status", r.Err)
			}
		})
	}
}

func TestAHookThatCannotBeExecutedSaysWhy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(path, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	run, _ := start(t, Spec{Argv: []string{path}, Limits: Limits{Timeout: patience}})
	r := await(t, run)
	if r.Exit != -1 || r.Err == nil || !strings.Contains(r.Err.Error(), "no such file") {
		t.Errorf("%+v", r)
	}
}

func TestStartRefusesNonsense(t *testing.T) {
	for name, spec := range map[string]Spec{
		"no program":        {Limits: Limits{Timeout: time.Second}},
		"no timeout":        {Argv: []string{"/bin/true"}},
		"not found in PATH": {Argv: []string{"no-such-program-anywhere"}, Limits: Limits{Timeout: time.Second}},
	} {
		if _, err := Start(spec); err == nil {
			t.Errorf("%s: started", name)
		}
	}
}

func TestAHookThatHangsIsStoppedAtItsTimeout(t *testing.T) {
	spec := shell("exec sleep 1000")
	// A guard on a busy machine may need longer than the timeout to start the hook: it is given more.
	for spec.Timeout = 50 * time.Millisecond; ; spec.Timeout *= 4 {
		run, _ := start(t, spec)
		r := await(t, run)
		if r.NotExecuted && spec.Timeout < 10*time.Second {
			continue
		}
		if !r.TimedOut || r.Stopped || r.Signal != "SIGTERM" || r.Err == nil ||
			!strings.Contains(r.Err.Error(), spec.Timeout.String()) {
			t.Errorf("%+v", r)
		}
		return
	}
}

func TestATimedOutHookThatIgnoresTERMIsKilled(t *testing.T) {
	spec := shell("trap '' TERM; while :; do sleep 1000; done")
	// A shell on a busy machine may need longer than its timeout to set the trap, and then dies of TERM: it is given
	// more.
	for timeout := 50 * time.Millisecond; ; timeout *= 4 {
		spec.Timeout, spec.Grace = timeout, 50*time.Millisecond
		run, _ := start(t, spec)
		r := await(t, run)
		if r.TimedOut && r.Signal == "SIGKILL" {
			return
		}
		if timeout > 10*time.Second {
			t.Fatalf("%+v", r)
		}
	}
}

func TestAStoppedProcessIsToldToStopToo(t *testing.T) {
	w := newWitness(t)
	run, _ := start(t, shell("echo $$ >"+w.path+"; kill -STOP $$; sleep 1000"))
	w.line(t)
	run.Stop()
	if r := await(t, run); !r.Stopped || r.Signal != "SIGTERM" {
		t.Errorf("%+v", r)
	}
}

func TestStopEndsTheRun(t *testing.T) {
	w := newWitness(t)
	run, _ := start(t, shell("exec 9>"+w.path+"; trap 'exit 7' TERM; echo ready >&9; while :; do sleep 0.01; done"))
	w.line(t)
	run.Stop()
	run.Stop()
	r := await(t, run)
	if !r.Stopped || r.TimedOut || r.Exit != 7 || r.Err == nil {
		t.Errorf("%+v", r)
	}
	run.Stop()
	w.gone(t)
}

// A stop may come together with the task; a process that is born afterwards obeys it.
func TestAStopThatComesAtOnceEndsTheRun(t *testing.T) {
	for range 10 {
		run, _ := start(t, Spec{
			Argv: []string{"sleep", "1000"}, Limits: Limits{Timeout: 2 * patience, Grace: 2 * patience},
		})
		run.Stop()
		select {
		case r := <-run.Done():
			if !r.Stopped || r.Signal != "SIGTERM" {
				t.Errorf("%+v", r)
			}
		case <-time.After(patience):
			t.Fatal("the stop was not heard")
		}
	}
}

func TestAChildThatIgnoresTERMIsDeadWhenTheRunIsDone(t *testing.T) {
	// The leader obeys and is gone at once; the child lives on until it is killed.
	w := newWitness(t)
	spec := shell("exec 9>" + w.path + "; (trap '' TERM; echo ready >&9; while :; do sleep 1000; done) & wait")
	spec.Grace = 50 * time.Millisecond
	run, _ := start(t, spec)
	w.line(t)
	run.Stop()
	if r := await(t, run); !r.Stopped || r.Signal != "SIGTERM" {
		t.Errorf("%+v", r)
	}
	w.gone(t)
}

func TestTheRunIsNotOverWhileProcessesAreLeft(t *testing.T) {
	// "The operation is over when its first process has ended and nothing of its session is left" (package comment).
	for name, background := range map[string]string{
		"in the process group": "(trap '' TERM; echo ready >&9; while :; do sleep 1000; done) &",
		"in a process group of its own": "timeout 1000 sh -c 'trap \"\" TERM; echo ready >&9; while :; do sleep " +
			"1000; done' &",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWitness(t)
			spec := shell("exec 9>" + w.path + "; " + background + " exit 0")
			spec.Grace = 50 * time.Millisecond
			run, log := start(t, spec)
			r := await(t, run)
			if r.Exit != 0 || r.Err != nil || !r.Leftovers || r.Took < settleTime || r.Undead {
				t.Errorf("%+v", r)
			}
			if !log.has(t, "left processes behind") {
				t.Error("nobody is told")
			}
			w.line(t)
			w.gone(t)
		})
	}
}

func TestAProcessThatEndsByItselfSoonAfterIsNotALeftover(t *testing.T) {
	run, log := start(t, shell("(sleep 0.1; echo last words) & exit 0"))
	if r := await(t, run); r.Err != nil || r.Leftovers {
		t.Errorf("%+v", r)
	}
	if !log.has(t, "last words") {
		t.Error("its output is lost")
	}
}

func TestADaemonThatHoldsTheOutputDelaysDoneButBrieflyAndIsReported(t *testing.T) {
	w := newWitness(t)
	run, log := start(t, shell("setsid sh -c 'exec 9>"+w.path+"; echo $$ >&9; exec sleep 1000' & exit 0"))
	daemon, err := strconv.Atoi(w.line(t))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(daemon, syscall.SIGKILL) }()
	r := await(t, run)
	if !r.Detached || r.Leftovers || r.Exit != 0 || r.Err != nil {
		t.Errorf("%+v", r)
	}
	if !log.has(t, "daemon") {
		t.Error("nobody is told")
	}
	if err := syscall.Kill(daemon, 0); err != nil {
		t.Errorf("the daemon was to live on: %v", err)
	}
	_ = syscall.Kill(daemon, syscall.SIGKILL)
	w.gone(t)
}

func TestKillingTheGuardKillsTheHook(t *testing.T) {
	w := newWitness(t)
	run, _ := start(t, shell("exec 9>"+w.path+"; (echo ready >&9; sleep 1000) & echo $PPID >"+w.path+"x; wait"))
	w.line(t)
	guard := eventually(t, func() (int, bool) {
		text, err := os.ReadFile(w.path + "x")
		pid, numErr := strconv.Atoi(strings.TrimSpace(string(text)))
		return pid, err == nil && numErr == nil
	})
	if err := syscall.Kill(guard, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if r := await(t, run); r.Err == nil || !strings.Contains(r.Err.Error(), "guard") || r.Undead {
		t.Errorf("%+v", r)
	}
	w.gone(t)
}

func TestTERMToTheGuardStopsTheHook(t *testing.T) {
	w := newWitness(t)
	run, _ := start(t, shell("exec 9>"+w.path+"; echo $PPID >&9; exec sleep 1000"))
	guard, err := strconv.Atoi(w.line(t))
	if err != nil {
		t.Fatal(err)
	}
	_ = syscall.Kill(guard, syscall.SIGTERM)
	if r := await(t, run); !r.Stopped || r.Signal != "SIGTERM" {
		t.Errorf("%+v", r)
	}
}

func TestSignallingItsOwnGroupIsTheHooksOwnAffair(t *testing.T) {
	run, _ := start(t, shell("sleep 1000 & kill 0; wait"))
	if r := await(t, run); r.Stopped || r.TimedOut || r.Signal != "SIGTERM" {
		t.Errorf("%+v", r)
	}
}

const agentArg = "test-agent"

// untilVar is the variable with the end of the grant of [runAgent]'s hook, as time since boot.
const untilVar = "TEST_AGENT_UNTIL"

// awaited is a log whose first line a test waits for.
type awaited chan struct{}

func (a awaited) Write(line []byte) (int, error) {
	select {
	case <-a:
	default:
		close(a)
	}
	return len(line), nil
}

// runAgent starts a hook, as an agent does, and waits to be killed. It gives the guard a pre-signed word for each of
// those addresses, and tells it to stop the hook when the hook has written something.
func runAgent(script, grace string, addresses []string) int {
	spec := shell(script)
	spec.OrphanGrace, _ = time.ParseDuration(grace)
	if spec.Until, _ = time.ParseDuration(os.Getenv(untilVar)); spec.Until != 0 {
		spec.Grace, spec.Timeout = 500*time.Millisecond, time.Hour
	}
	ready := make(awaited)
	spec.Log = testLog{zerolog.New(ready)}
	run, err := Start(spec)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	run.PreSigned([]Word{{To: netip.MustParseAddrPort("127.0.0.1:1"), Datagram: []byte("replaced")}})
	var words []Word
	for _, to := range addresses {
		words = append(words, Word{To: netip.MustParseAddrPort(to), Datagram: []byte("dead: " + to)})
	}
	run.PreSigned(words)
	if len(words) > 0 {
		<-ready
		run.Stop() // the guard has the words when it has told the script to stop
	}
	<-run.Done()
	return 2
}

func TestAHookDoesNotOutliveAnAgentKilledWithSIGKILL(t *testing.T) {
	w := newWitness(t)
	killAgentOf(t, w, 50*time.Millisecond,
		"trap '' TERM; (trap '' TERM; echo ready >&9; while :; do sleep 1000; done) & wait")
	w.gone(t)
}

func TestAHookOfAnAgentKilledWithSIGKILLCanCleanUp(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("its output ends with the agent")
	}
	w := newWitness(t)
	killAgentOf(t, w, patience,
		"trap 'echo cleaning up; echo told >&2; echo cleaned >&9; exit 1' TERM; echo ready >&9; sleep 1000 & wait")
	if line := w.line(t); line != "cleaned" {
		t.Errorf("the hook says %q", line)
	}
	w.gone(t)
}

// killAgentOf runs a script as the hook of an agent, which is killed when the script has written a line to its file 9,
// the witness.
func killAgentOf(t *testing.T, w *witness, grace time.Duration, script string, addresses ...string) {
	t.Helper()
	agent := startAgentOf(t, w, grace, script, addresses...)
	w.line(t)
	if err := agent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = agent.Wait()
}

// startAgentOf runs a script as the hook of an agent.
func startAgentOf(t *testing.T, w *witness, grace time.Duration, script string, addresses ...string) *exec.Cmd {
	t.Helper()
	agent := exec.Command("/proc/self/exe",
		append([]string{agentArg, "exec 9>" + w.path + "; " + script, grace.String()}, addresses...)...)
	agent.Args[0] = os.Args[0]
	agent.Stderr = os.Stderr
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	return agent
}

func TestTheEnvironmentAndTheInputAreExact(t *testing.T) {
	run, log := start(t, Spec{
		Argv: []string{"/bin/sh", "-c", "exec /usr/bin/env"}, Env: []string{"A=1", "B=x y"},
		Limits: Limits{Timeout: patience},
	})
	if r := await(t, run); r.Err != nil {
		t.Fatal(r.Err)
	}
	got := map[string]bool{}
	for _, e := range log.entries(t) {
		if name, _, _ := strings.Cut(e.Message, "="); name != "PWD" && name != "OLDPWD" && name != "SHLVL" &&
			name != "_" {
			got[e.Message] = true // the rest is the shell's own
		}
	}
	if len(got) != 2 || !got["A=1"] || !got["B=x y"] {
		t.Errorf("environment: %v", got)
	}

	run, log = start(t, shell("ls -l /proc/self/fd"))
	if r := await(t, run); r.Err != nil {
		t.Fatal(r.Err)
	}
	var files []string
	for _, e := range log.entries(t) {
		if _, file, ok := strings.Cut(e.Message, " -> "); ok && !strings.HasPrefix(file, "/proc/") {
			files = append(files, file)
		}
	}
	if len(files) != 3 || files[0] != "/dev/null" {
		t.Errorf("open files: %v", files)
	}
}

func TestAHookThatFloodsItsOutputIsReadToTheEndAndCutInTheLog(t *testing.T) {
	const flood = 10 << 20
	run, log := start(t,
		shell(fmt.Sprintf("yes 'a line of output, as good as any other of its kind' | head -c %d", flood)))
	r := await(t, run)
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	if r.BytesDropped < flood-maxOutput || r.BytesDropped >= flood || r.LinesDropped == 0 {
		t.Errorf("%d bytes, %d lines dropped of %d", r.BytesDropped, r.LinesDropped, flood)
	}
	entries := log.entries(t)
	last := entries[len(entries)-1]
	if !strings.Contains(last.Message, strconv.FormatInt(r.BytesDropped, 10)) {
		t.Errorf("the log ends with %q, not with what was dropped", last.Message)
	}
}

// eventually waits until get has something.
func eventually[T any](t *testing.T, get func() (T, bool)) T {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		if v, ok := get(); ok {
			return v
		}
		if time.Now().After(deadline) {
			t.Fatal("it never happens")
		}
	}
}

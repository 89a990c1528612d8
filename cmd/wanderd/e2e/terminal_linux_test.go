package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a shell with job control on a pseudo terminal.
type terminal struct {
	t    *testing.T
	node *node
	keys *os.File

	mu     sync.Mutex
	screen bytes.Buffer
	// seen is how much of the screen has been looked at.
	seen int
}

// openTerminal starts a shell in which $exec is "wanderd exec" on the node's host.
func openTerminal(t *testing.T, n *node) *terminal {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash here")
	}
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	if err := unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	screen, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	shell := exec.Command(bash, "--norc", "--noprofile", "--noediting", "-i")
	shell.Stdin, shell.Stdout, shell.Stderr = screen, screen, screen
	shell.Env = append(os.Environ(), "PS1=", "TERM=dumb", "HISTFILE=", "exec="+program(t)+" exec --state-dir "+n.state)
	shell.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := shell.Start(); err != nil {
		t.Fatal(err)
	}
	_ = screen.Close()
	term := &terminal{t: t, node: n, keys: keys}
	go func() {
		for buf := make([]byte, 4096); ; {
			k, err := keys.Read(buf)
			term.mu.Lock()
			term.screen.Write(buf[:k])
			term.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = shell.Process.Kill()
		_ = shell.Wait()
		_ = keys.Close()
		if t.Failed() {
			term.mu.Lock()
			defer term.mu.Unlock()
			t.Logf("--- the terminal\n%s", term.screen.String())
		}
	})
	term.enter("stty -echo; echo rea''dy")
	term.shows("ready")
	return term
}

func (m *terminal) enter(line string) { m.types(line + "\n") }

func (m *terminal) types(keys string) {
	m.t.Helper()
	if _, err := m.keys.WriteString(keys); err != nil {
		m.t.Fatal(err)
	}
}

// shows waits for a text on the part of the screen that was not looked at yet.
func (m *terminal) shows(text string) {
	m.t.Helper()
	until(m.t, "the terminal shows "+text, func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		i := bytes.Index(m.screen.Bytes()[m.seen:], []byte(text))
		if i < 0 {
			return false
		}
		m.seen += i + len(text)
		return true
	})
}

// wantCode checks that the shell is back, and the code of what it has run.
func (m *terminal) wantCode(want int) {
	m.t.Helper()
	m.enter("echo co''de=$?.")
	m.shows(fmt.Sprintf("code=%d.", want))
}

func (m *terminal) count(text string) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.Count(m.screen.Bytes(), []byte(text))
}

const (
	ctrlC = "\x03"
	ctrlZ = "\x1a"
)

// standsStill reports whether a process is stopped.
func standsStill(pid int) func() bool {
	return func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err == nil && bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" T"))
	}
}

// work is a command that reads a line of the FIFO "go"; its process number is in the file "pid". It starts no process:
// while a child of vfork(2) is stopped before it has executed anything, its parent cannot be, and no shell learns of a
// Ctrl-Z then.
func work(t *testing.T, dir string) string {
	t.Helper()
	if err := syscall.Mkfifo(dir+"/go", 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("sh -c 'echo $$ >%[1]s/pid; read line <%[1]s/go; echo fini''shed; exit 6'", dir)
}

// A command that Ctrl-Z has stopped keeps the gate, and fg and bg continue it.
func TestCtrlZStopsACommandAndFgLetsItGoOn(t *testing.T) {
	t.Parallel()
	n := alone(t)
	for _, goOn := range []string{"fg", "bg; wait %1", "kill -CONT %1; wait %1"} {
		t.Run(goOn, func(t *testing.T) {
			m, dir := openTerminal(t, n), t.TempDir()
			m.enter("$exec -- " + work(t, dir))
			pid := pidIn(t, filepath.Join(dir, "pid"))
			for range 2 { // once, and again
				m.types(ctrlZ)
				m.shows("Stopped")
				until(t, "the command stands still", standsStill(pid))
				n.exec("-w", "100ms", "--", "true").wantCode(75, "runs on this host")
				if strings.HasPrefix(goOn, "fg") {
					m.enter("fg")
					until(t, "it goes on", func() bool { return !standsStill(pid)() })
				} else {
					break
				}
			}
			if !strings.HasPrefix(goOn, "fg") {
				m.enter(goOn)
			}
			until(t, "it goes on", func() bool { return !standsStill(pid)() })
			goes, err := os.OpenFile(filepath.Join(dir, "go"), os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = goes.Close() }()
			if _, err := goes.WriteString("go\n"); err != nil {
				t.Fatal(err)
			}
			m.shows("finished")
			m.wantCode(6)
		})
	}
}

func TestCtrlCReachesACommandOnce(t *testing.T) {
	t.Parallel()
	n := alone(t)
	m, dir := openTerminal(t, n), t.TempDir()
	m.enter("$exec -- sh -c 'trap \"echo interrup''ted\" INT; echo $$ >" + dir + "/pid; while [ ! -e " + dir +
		"/go ]; do sleep 0.02; done; exit 5'")
	pidIn(t, filepath.Join(dir, "pid"))
	n.runsOne()
	m.types(ctrlC)
	m.shows("interrupted")
	time.Sleep(100 * time.Millisecond) // for a second one, which must not come
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m.wantCode(5)
	if got := m.count("interrupted"); got != 1 {
		t.Errorf("it was interrupted %d times", got)
	}
	m.enter("$exec -- sh -c 'echo begi''ns; exec sleep 600'")
	m.shows("begins")
	m.types(ctrlC)
	m.wantCode(128 + int(syscall.SIGINT))
}

func TestACommandReadsTheTerminal(t *testing.T) {
	t.Parallel()
	n := alone(t)
	m := openTerminal(t, n)
	const reads = "$exec -- sh -c 'read line; echo \"got $line\"'"
	m.enter(reads)
	n.runsOne()
	m.enter("hello")
	m.shows("got hello")
	m.wantCode(0)
	m.enter(reads + " &") // in the background it has to wait until it is in the foreground
	n.runsOne()
	until(t, "it stands still", func() bool { c := n.callers(); return len(c) > 0 && standsStill(c[0].PID)() })
	until(t, "the shell knows that", func() bool { // It lets nothing go on that goes on as far as it knows.
		m.enter("jobs")
		return m.count("Stopped") > 0
	})
	m.enter("fg")
	until(t, "it goes on", func() bool { c := n.callers(); return len(c) > 0 && !standsStill(c[0].PID)() })
	m.enter("again")
	m.shows("got again")
	m.wantCode(0)
}

// The rest of a pipeline keeps the terminal, too.
func TestAPipelineOnATerminal(t *testing.T) {
	t.Parallel()
	m := openTerminal(t, alone(t))
	m.enter("$exec -- sh -c 'echo from the command' | sh -c 'cat; read line </dev/tty; echo \"got $line\"'")
	m.shows("from the command")
	m.enter("answer")
	m.shows("got answer")
	m.wantCode(0)
}

func TestWaitingIsShownOnATerminalAndInterruptedAtOnce(t *testing.T) {
	t.Parallel()
	n := alone(t)
	running := n.exec("--", "sleep", "600").begin()
	n.runsOne()
	m := openTerminal(t, n)
	m.enter("$exec -- true")
	m.shows(fmt.Sprintf("waiting: gate g: sleep (%d) runs on this host", running.Process.Pid))
	m.types(ctrlZ)
	m.shows("Stopped")
	m.enter("fg")
	m.shows("waiting: gate g")
	m.types(ctrlC)
	m.wantCode(128 + int(syscall.SIGINT))
	until(t, "nobody waits", func() bool { return len(n.callers()) == 1 })
}

// A command that stands still is killed with its agent, and its job ends.
func TestACommandThatStandsStillDoesNotOutliveTheAgent(t *testing.T) {
	t.Parallel()
	n := alone(t)
	m, dir := openTerminal(t, n), t.TempDir()
	m.enter("$exec -- " + work(t, dir))
	pid := pidIn(t, filepath.Join(dir, "pid"))
	m.types(ctrlZ)
	m.shows("Stopped")
	n.kill()
	until(t, "the command is gone", gone(pid))
	m.shows("the agent on this host has died")
	// While the shell has not heard yet that its job goes on, "wait" returns at once, with the signal that stopped it.
	m.enter("while wait %1; code=$?; [ $code -gt 128 ]; do sleep 0.1; done; echo co''de=$code.")
	m.shows("code=70.")
}

// The leader of a session stays in its process group. The terminal reaches both, and Ctrl-C is not passed on a second
// time.
func TestCtrlCReachesTheCommandOfASessionLeaderOnce(t *testing.T) {
	t.Parallel()
	n := alone(t)
	m, dir := openTerminal(t, n), t.TempDir()
	m.enter("exec $exec -- sh -c 'trap \"echo interrup''ted\" INT; echo $$ >" + dir + "/pid; while [ ! -e " + dir +
		"/go ]; do sleep 0.02; done; echo fini''shed'")
	pidIn(t, filepath.Join(dir, "pid"))
	n.runsOne()
	m.types(ctrlC)
	m.shows("interrupted")
	time.Sleep(100 * time.Millisecond)
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m.shows("finished")
	if got := m.count("interrupted"); got != 1 {
		t.Errorf("it was interrupted %d times", got)
	}
}

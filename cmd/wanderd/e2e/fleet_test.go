// Package e2e runs the built program: real processes, real sockets, real memberlist, real signals, on loopback.
package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/lab/ports"
)

// patience bounds every wait for something that must happen; nothing is asserted about how soon it does.
const patience = 60 * time.Second

var built struct {
	once sync.Once
	path string
	err  error
}

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == storeClient {
		os.Exit(runStoreClient(os.Args[2:]))
	}
	if signal.Ignored(syscall.SIGHUP) { // under nohup; agents and scripts of tests would ignore it, too
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	// These tests wait for processes more than they compute, so that many of them fit on a processor.
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		_ = flag.Set(f.Name, strconv.Itoa(3*runtime.GOMAXPROCS(0)))
	}
	code := m.Run()
	if built.path != "" {
		_ = os.RemoveAll(filepath.Dir(built.path))
	}
	os.Exit(code)
}

// program builds wanderd and its guard once.
func program(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		dir, err := os.MkdirTemp("", "wanderd-e2e-") //nolint:usetesting // it outlives the test that builds first
		if err != nil {
			built.err = err
			return
		}
		built.path = filepath.Join(dir, "wanderd")
		if out, err := exec.Command("../../../lab/build/wanderd", dir).CombinedOutput(); err != nil {
			built.err = fmt.Errorf("lab/build/wanderd: %w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatal(built.err)
	}
	return built.path
}

// fleet is some agents that share a secret and a journal into which their hooks write.
type fleet struct {
	t       testing.TB
	dir     string
	journal string
	// deaf is the file that makes hooks deaf, running the directory with a file for each hook that runs.
	deaf, running string
	args          []string
	nodes         []*node
	// noHook is true if the arguments name gates.
	noHook bool
	// seeds is how many nodes the others join: the first ones, or all if it is 0.
	seeds int

	// known is what was read of the journal so far; beside is how many hooks have found another one running when they
	// started.
	known  []run
	beside int
	tail   tail
}

// node is one agent: its process may come and go, its directory stays.
type node struct {
	fleet *fleet
	name  string
	// addr is where the others reach it, bind where it listens; a relay may stand between the two.
	addr, bind string
	state      string
	log        string
	// program is a copy of the program; empty for the program itself.
	program string
	// args are this node's own arguments, after the fleet's; under is a command that runs the program.
	args  []string
	under []string
	cmd   *exec.Cmd
	ended chan struct{}
}

// hookScript writes a line when it starts and one when it ends, and works for $WORK seconds in between. If there is a
// file $DEAF, it ignores SIGTERM, and so does everything that it starts. First of all it checks whether another hook
// runs: each has a file with its number.
const hookScript = `#!/bin/sh
[ -e "$DEAF" ] && trap '' TERM
for other in "$RUNNING"/*; do
	[ -e "$other" ] && kill -0 "${other##*/}" 2>/dev/null &&
		echo "beside $WANDERD_NAME $WANDERD_SEQ $(date +%s%N) ${other##*/}" >>"$JOURNAL"
done
: >"$RUNNING/$$"
echo "start $WANDERD_NAME $WANDERD_SEQ $(date +%s%N) $$" >>"$JOURNAL"
sleep "${WORK:-0.2}"
rm -f "$RUNNING/$$"
echo "end $WANDERD_NAME $WANDERD_SEQ $(date +%s%N) $$" >>"$JOURNAL"
`

// tempDir is a directory in one of its own, like that of t.TempDir. A hook of an agent that was killed has a moment to
// end, and may write there until then, so it is removed as soon as that works.
func tempDir(t testing.TB) string {
	t.Helper()
	parent, err := os.MkdirTemp("", "wanderd-e2e-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		until(t, "the directory is removed", func() bool { return os.RemoveAll(parent) == nil })
	})
	dir := filepath.Join(parent, "fleet")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func newFleet(t testing.TB, size int, args ...string) *fleet {
	t.Helper()
	f := &fleet{t: t, dir: tempDir(t), args: args}
	f.journal = filepath.Join(f.dir, "journal")
	f.tail.path = f.journal
	if out, err := exec.Command(program(t), "keygen", "--secret", f.secret()).CombinedOutput(); err != nil {
		t.Fatalf("keygen: %v\n%s", err, out)
	}
	f.hook(hookScript)
	f.deaf, f.running = filepath.Join(f.dir, "deaf"), filepath.Join(f.dir, "running")
	if err := os.Mkdir(f.running, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range size {
		name, addr := fmt.Sprintf("m%d", i+1), ports.For(t)
		f.nodes = append(f.nodes, &node{
			fleet: f, name: name, addr: addr, bind: addr,
			state: filepath.Join(f.dir, name), log: filepath.Join(f.dir, name+".log"),
		})
	}
	t.Cleanup(func() {
		for _, n := range f.nodes {
			n.kill()
		}
		if t.Failed() {
			f.dump()
		}
	})
	return f
}

func (f *fleet) secret() string { return filepath.Join(f.dir, "secret") }

// hook makes a script the fleet's hook.
func (f *fleet) hook(script string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, "hook.sh"), []byte(script), 0o700); err != nil {
		f.t.Fatal(err)
	}
}

// dump shows the ends of the logs of a test that failed.
func (f *fleet) dump() {
	for _, n := range f.nodes {
		b, _ := os.ReadFile(n.log)
		f.t.Logf("--- %s\n%s", n.name, b[max(len(b)-4000, 0):])
	}
	b, _ := os.ReadFile(f.journal)
	f.t.Logf("--- journal\n%s", b)
}

// start starts every node.
func (f *fleet) start() {
	f.t.Helper()
	for _, n := range f.nodes {
		n.start()
	}
}

// first starts the first node as a fleet of one and waits until its hook runs; the others then find a token in the
// fleet.
func (f *fleet) first(env ...string) {
	f.t.Helper()
	n := f.nodes[0]
	n.args = []string{"--alone", "run"}
	n.start(env...)
	until(f.t, "the first member runs", func() bool { return len(f.runs()) > 0 })
}

// start starts the node with the fleet's arguments and its own; the others' addresses are where it joins.
func (n *node) start(env ...string) {
	n.fleet.t.Helper()
	args := []string{
		"--name", n.name, "--state-dir", n.state, "--secret-file", n.fleet.secret(), "--log-format", "json",
		"--log-level", "debug",
	}
	if !n.fleet.noHook {
		args = append(args, "--hook", filepath.Join(n.fleet.dir, "hook.sh"))
	}
	if n.bind != "" {
		args = append(args, "--bind", n.bind, "--advertise", n.addr)
	}
	for _, other := range n.fleet.nodes[:cmp.Or(n.fleet.seeds, len(n.fleet.nodes))] {
		if other != n {
			args = append(args, "--join", other.addr)
		}
	}
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		n.fleet.t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	argv := slices.Concat(n.under, []string{cmp.Or(n.program, program(n.fleet.t))}, args, n.fleet.args, n.args)
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(append(os.Environ(), "JOURNAL="+n.fleet.journal, "DEAF="+n.fleet.deaf, "RUNNING="+n.fleet.running),
		env...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		n.fleet.t.Fatal(err)
	}
	n.cmd, n.ended = cmd, make(chan struct{})
	go func(ended chan struct{}) {
		_ = cmd.Wait()
		close(ended)
	}(n.ended)
}

func (n *node) signal(s syscall.Signal) {
	n.fleet.t.Helper()
	if err := n.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		n.fleet.t.Fatalf("%s to %s: %v", s, n.name, err)
	}
}

// kill ends the process at once, if it runs.
func (n *node) kill() {
	if n.cmd == nil {
		return
	}
	_ = n.cmd.Process.Kill()
	<-n.ended
	n.cmd = nil
}

// exits waits for the process to end by itself and returns its exit code.
func (n *node) exits() int {
	n.fleet.t.Helper()
	select {
	case <-n.ended:
	case <-time.After(patience):
		n.fleet.t.Fatalf("%s does not exit", n.name)
	}
	code := n.cmd.ProcessState.ExitCode()
	n.cmd = nil
	return code
}

// logged waits until the node's log holds the text.
func (n *node) logged(text string) {
	n.fleet.t.Helper()
	until(n.fleet.t, n.name+" logs "+strconv.Quote(text), func() bool {
		b, _ := os.ReadFile(n.log)
		return bytes.Contains(b, []byte(text))
	})
}

// status asks the node through its control socket; ok is false if no agent answers.
func (n *node) status() (control.Status, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, program(n.fleet.t), "status", "--json", "--state-dir", n.state).Output()
	var s control.Status
	if err != nil || json.Unmarshal(out, &s) != nil || len(s.Gates) == 0 {
		return s, false
	}
	return s, true
}

// run is one run of the hook as the journal has it; end is zero if it did not end by itself.
type run struct {
	name       string
	seq        uint64
	start, end time.Time
	pid        int
}

// runs reads the new lines of the journal, and returns all runs.
func (f *fleet) runs() []run {
	f.t.Helper()
	for _, line := range f.tail.lines(f.t) {
		var what string
		var r run
		var at int64
		if _, err := fmt.Sscanf(line, "%s %s %d %d %d", &what, &r.name, &r.seq, &at, &r.pid); err != nil {
			continue
		}
		switch what {
		case "start":
			r.start = time.Unix(0, at)
			f.known = append(f.known, r)
			continue
		case "beside":
			f.beside++
			continue
		}
		for i := range f.known {
			if k := &f.known[i]; k.pid == r.pid && k.seq == r.seq && k.name == r.name {
				k.end = time.Unix(0, at)
			}
		}
	}
	return slices.Clone(f.known)
}

// cutShort ends a run whose hook was killed at the given time, and reports whether it had not ended by itself.
func (f *fleet) cutShort(pid int, at time.Time) bool {
	f.runs()
	for i := range f.known {
		if k := &f.known[i]; k.pid == pid && k.end.IsZero() {
			k.end = at
			_ = os.Remove(filepath.Join(f.running, strconv.Itoa(pid)))
			return true
		}
	}
	return false
}

// tail reads a file that grows.
type tail struct {
	path   string
	offset int64
}

// lines returns the whole lines that have come since the last call.
func (l *tail) lines(t testing.TB) []string {
	t.Helper()
	file, err := os.Open(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.NewSectionReader(file, l.offset, math.MaxInt64-l.offset))
	if err != nil {
		t.Fatal(err)
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	l.offset += int64(len(text))
	return slices.Collect(strings.Lines(string(text)))
}

// by counts the runs of one member.
func by(runs []run, name string) int {
	n := 0
	for _, r := range runs {
		if r.name == name {
			n++
		}
	}
	return n
}

// until waits for a condition.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !cond(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited %s in vain: %s", patience, what)
		}
	}
}

// Package hook runs the protected operation as a child process, and knows when it is over.
//
// An operation is over when its first process has ended and nothing of its session is left: a gate must not open while
// a transfer still runs in the background of a script that has exited. Between the agent and the operation stands a
// guard, a small program or, where that is missing, the agent's own started again in a hidden mode:
//
//	agent ──lifeline──▶ guard ──▶ ./sync.sh ──▶ rsync, timeout, …
//	  ▲                  └───────────── one session ─────────────┘
//	  ├──── report ──────────┘                │
//	  └──── output, line by line ─────────────┘
//
// The lifeline is a pipe on which the agent tells the guard what to run, when to stop it, and what to send if the agent
// dies. It ends when the agent is killed, even with SIGKILL. Then, as at a stop, the guard tells the session to stop
// (SIGTERM), and kills what is left of it after a grace. This grace is short, because the other members wait for its
// end. When nothing is left, the guard sends datagrams that the agent has sealed and signed for this case, and ends. If
// the operation had ended before the agent died, the guard sends nothing. A parent-death signal would reach only the
// first process, and none of its children.
//
// A grant may have an end: a time since boot at which nothing of the operation is left. The guard keeps to it by
// itself, even while the agent is paused (SIGSTOP, a disk that hangs) or after the host was suspended.
//
// The guard has its own name, as process and in its arguments. So killing all processes of the agent's name does not
// kill the guard. If the guard is killed, the first process of the operation dies with it, and the agent kills the
// rest.
//
// A process that leaves the session (setsid, or a service manager that starts something on its behalf) is deliberately
// out of reach when the operation ends: that is how a hook leaves a daemon behind. If the guard has to kill the
// operation, or the agent has died, the guard also kills the processes that have left the session, where the agent may
// make control groups: as root, or in a service with Delegate=yes.
//
// A caller's command has a guard of the same kind, which the caller starts: see [Command]. The agent is at the other
// end of a connection: see [Remote].
//
// The guard follows sessions and control groups on Linux. Elsewhere it follows the process group of the operation.
//
// Its decisions, in docs/decisions: 050, 051, 052, 053, 056, 093.
package hook

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// DefaultGrace is the time from SIGTERM to SIGKILL.
	DefaultGrace = 10 * time.Second
	// DefaultOrphanGrace is the time from SIGTERM to SIGKILL when the agent has died.
	DefaultOrphanGrace = 100 * time.Millisecond

	// answerTime is how long the agent waits for its guard after the time at which the guard gives an operation up.
	answerTime = settleTime + 2*undeadTime
	// MaxInput is what a pipe takes without a reader, on every system.
	MaxInput = 4 << 10
	// drainTime bounds how long the output is read after the operation is over. Nothing of the operation is left then,
	// so only a process that has left the session can still hold the pipes.
	drainTime = time.Second
)

// Limits are how long an operation may take, and its end.
type Limits struct {
	// Timeout is how long the operation may take until it is told to stop. It must be positive, except for a caller's
	// command, for which zero sets no limit.
	Timeout time.Duration `json:"timeout,omitempty"`
	// Grace is the time from SIGTERM to SIGKILL; zero means DefaultGrace. A caller's command may choose less than its
	// grant allows.
	Grace time.Duration `json:"grace,omitempty"`
	// OrphanGrace replaces Grace when the agent has died; zero means DefaultOrphanGrace.
	OrphanGrace time.Duration `json:"orphan_grace"`
	// Until is the time since this host was booted, suspensions included, at which nothing of the operation is left;
	// zero means never. The guard needs no message from the agent for that: it tells the operation to stop a grace
	// before, and kills what is left a moment before.
	Until time.Duration `json:"until,omitempty"`
}

// Spec is one operation to run.
type Spec struct {
	// Argv is the program and its arguments; see [Check].
	Argv []string
	// Env is the whole environment; see [Environ].
	Env []string
	Limits
	// Log receives the output, and warnings about what was left behind. It may be nil.
	Log Log

	// Question is true for a ready check, which asks whether the protected operation is needed. For is the setting that
	// names any other program that is not a hook.
	Question bool
	For      string
	// Input is what the program reads on its standard input: at most [MaxInput] bytes. Without it, it reads nothing.
	Input []byte

	// Caller is the number of the process that starts a caller's command, from the kernel; zero if it is not known
	// here.
	Caller int

	// command is true for a caller's command.
	command bool
}

func (s *Spec) name() string {
	switch {
	case s.command:
		return "command " + s.Argv[0]
	case s.Question:
		return "ready " + s.Argv[0]
	case s.For != "":
		return s.For + " " + s.Argv[0]
	}
	return "hook " + s.Argv[0]
}

// Run is an operation under way.
type Run struct {
	lifeline *lifeline
	done     chan Result
	// end is the end of its grant.
	end deadline
}

// Start starts the operation, and does not wait for a file system that hangs. An error means that nothing was started,
// and names the remedy. If the operation turns out not to be executable, the Result has that error.
func Start(spec Spec) (*Run, error) {
	if spec.Log == nil {
		spec.Log = noLog{}
	}
	if spec.Timeout <= 0 {
		return nil, fmt.Errorf("hook: a timeout of %v: it must be positive", spec.Timeout)
	}
	if spec.Until != 0 && runtime.GOOS != "linux" {
		return nil, errors.New("hook: this system does not tell the time since its boot, by which a grant of a " +
			"strict gate ends")
	}
	spec.Grace = cmp.Or(spec.Grace, DefaultGrace)
	spec.OrphanGrace = cmp.Or(spec.OrphanGrace, DefaultOrphanGrace)
	path, err := locate(spec.Argv)
	if err != nil {
		return nil, err
	}
	var pipes pipes
	if err := pipes.open(); err != nil {
		return nil, fmt.Errorf("hook: no pipes to run it with, raise the limit of open files: %w", err)
	}
	guard := &exec.Cmd{Args: []string{GuardName}}
	guard.Env = append([]string{}, spec.Env...) // never nil, which would mean the agent's own environment
	guard.Stdout, guard.Stderr = pipes.stdout.w, pipes.stderr.w
	guard.ExtraFiles = []*os.File{pipes.lifeline.r, pipes.report.w}
	guard.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // see operation
	run := &Run{done: make(chan Result, 1), lifeline: newLifeline(pipes.lifeline.w)}
	go run.attend(spec, path, guard, &pipes)
	return run, nil
}

// Stop tells the operation to stop, and kills it after the grace. It does not wait, and may be called at any time.
func (r *Run) Stop() { r.lifeline.tell(func(next *instruction) { next.Stop = true }) }

// Extend moves the time since boot at which nothing of the operation is left. It does not wait, and may be called at
// any time. It has no effect if it reaches the guard after the guard has begun to end the operation.
func (r *Run) Extend(until time.Duration) {
	r.end.set(until)
	r.lifeline.tell(func(next *instruction) { next.Until = until })
}

// PreSigned gives the guard the datagrams to send if this process dies before the operation is over, in place of all
// earlier ones. It does not wait, and may be called at any time.
func (r *Run) PreSigned(words []Word) {
	words = append([]Word{}, words...) // never nil, which the guard would read as no list at all
	r.lifeline.tell(func(next *instruction) { next.Words = &words })
}

// Done delivers the result, once.
func (r *Run) Done() <-chan Result { return r.done }

// begin starts the guard. The guard's program may lie on a file system that hangs. So begin gives up when starting
// takes as long as the operation may take; a guard that starts later gets no task, and does nothing.
func begin(guard *exec.Cmd, pipes *pipes, timeout time.Duration) error {
	begun := make(chan error, 1)
	go func() {
		var err error
		if guard.Path, err = guardPath(); err == nil {
			err = guard.Start()
		}
		begun <- err
	}()
	select {
	case err := <-begun:
		if err != nil {
			pipes.closeAll()
			return fmt.Errorf("hook: cannot start its guard: %w", err)
		}
		pipes.closeTheirs()
		return nil
	case <-time.After(timeout):
		go func() {
			err := <-begun
			pipes.closeAll()
			if err == nil {
				_ = guard.Wait()
			}
		}()
		return fmt.Errorf("hook: its guard did not start within %v: does the file system of this program hang?",
			timeout)
	}
}

// ended waits for the end of a guard that is about to end, but not for a guard that SIGKILL does not reach.
func ended(guard *exec.Cmd) error {
	end := make(chan error, 1)
	go func() { end <- guard.Wait() }()
	select {
	case err := <-end:
		return err
	case <-time.After(undeadTime):
		return errors.New("it survives SIGKILL")
	}
}

// attend follows the operation to its end.
func (r *Run) attend(spec Spec, path string, guard *exec.Cmd, pipes *pipes) {
	started := time.Now()
	if err := begin(guard, pipes, spec.Timeout); err != nil {
		r.done <- Result{Exit: -1, NotExecuted: true, Took: time.Since(started), Err: err}
		return
	}
	limits := spec.Limits
	limits.Timeout = max(spec.Timeout-time.Since(started), 0)
	r.lifeline.tell(func(next *instruction) {
		next.Task = &guardTask{Path: path, Argv: spec.Argv, Input: spec.Input, Limits: limits}
	})
	var result Result
	over := make(chan struct{})
	var telling, draining sync.WaitGroup
	telling.Go(func() { r.lifeline.write(over) })
	defer func() {
		close(over)
		pipes.closeAll() // which ends a write that waits
		telling.Wait()
		r.done <- result
	}()
	out := newOutput(spec.Log)
	draining.Go(func() { out.drain(pipes.stdout.r, "stdout") })
	draining.Go(func() { out.drain(pipes.stderr.r, "stderr") })

	// A guard that hangs reports nothing, and ends nothing.
	var hangs atomic.Bool
	late := time.AfterFunc(limits.Timeout+spec.Grace+answerTime, func() {
		hangs.Store(true)
		_ = guard.Process.Kill()
		_ = pipes.report.r.SetReadDeadline(time.Now().Add(undeadTime))
	})
	var first atomic.Int64
	r.end.begin(spec.Until)
	telling.Go(func() {
		r.end.enforce(over, func() {
			op := operation{
				session: guard.Process.Pid, group: int(first.Load()), cgroup: guardsCgroup(guard.Process.Pid),
			}
			op.killAll()
			_ = guard.Process.Kill()
		})
	})
	report := readReport(pipes.report.r, func(now report) { first.Store(int64(now.Pid)) })
	late.Stop()
	if err := ended(guard); !report.Over {
		spec.Log.Warn("the guard of the hook has died, or does not answer; the hook is killed too", "guard", err)
		report.GuardDied, report.TimedOut = true, hangs.Load()
		report.Undead = !operation{
			session: guard.Process.Pid, group: report.Pid, cgroup: guardsCgroup(guard.Process.Pid),
		}.kill()
	}
	took := time.Since(started)

	deadline := time.Now().Add(drainTime)
	_ = pipes.stdout.r.SetReadDeadline(deadline)
	_ = pipes.stderr.r.SetReadDeadline(deadline)
	draining.Wait()

	result = report.result(spec, took)
	result.Detached, result.Tail = out.cut, out.tail
	result.LinesDropped, result.BytesDropped = out.linesDropped, out.bytesDropped
	result.warn(spec.Log)
}

// pipe is one pipe between the agent and the guard.
type pipe struct{ r, w *os.File }

// pipes are all pipes to one guard. The agent keeps the write end of the lifeline, and the read ends of the others.
type pipes struct{ stdout, stderr, lifeline, report pipe }

func (p *pipes) open() error {
	for _, one := range []*pipe{&p.stdout, &p.stderr, &p.lifeline, &p.report} {
		r, w, err := os.Pipe()
		if err != nil {
			p.closeAll()
			return err
		}
		*one = pipe{r: r, w: w}
	}
	return nil
}

// closeTheirs closes the ends that belong to the guard.
func (p *pipes) closeTheirs() {
	for _, f := range []*os.File{p.stdout.w, p.stderr.w, p.lifeline.r, p.report.w} {
		_ = f.Close()
	}
}

// closeAll closes what is open; an end that is closed already, or was never opened, does no harm.
func (p *pipes) closeAll() {
	p.closeTheirs()
	for _, f := range []*os.File{p.stdout.r, p.stderr.r, p.lifeline.w, p.report.r} {
		_ = f.Close()
	}
}

// locate returns the path of argv's program: absolute, or one that means the same to the guard, whose working directory
// is the agent's.
func locate(argv []string) (string, error) {
	if len(argv) == 0 || argv[0] == "" {
		return "", errors.New("no hook is given: name a program, as in --hook ./sync.sh")
	}
	name := argv[0]
	if filepath.Base(name) != name {
		return name, nil
	}
	path, err := exec.LookPath(name)
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return "", fmt.Errorf("%q is not in PATH: write its path, as in ./%s or /usr/local/bin/%[1]s", name, name)
	}
	return path, nil
}

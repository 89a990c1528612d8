package hook

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"
)

// GuardArg, as the first argument of a program that uses this package, asks it to call [Guard]. Its main, and the
// TestMain of tests that start hooks, begin with
//
//	if len(os.Args) > 1 && os.Args[1] == hook.GuardArg {
//		os.Exit(hook.Guard(os.Args[2:]))
//	}
const GuardArg = "hook-guard"

const (
	// settleTime is how long the last processes of an operation may outlive its first without a word: a shell does not
	// wait for >(tee log).
	settleTime = 500 * time.Millisecond
	// lookTime is how often the guard looks for processes whose end nobody reports to it.
	lookTime = 100 * time.Millisecond
	// undeadTime is how long the guard waits for the effect of SIGKILL.
	undeadTime = 5 * time.Second

	exitUsage = 64

	// What the guard inherits beside its standard streams, which it hands to the operation.
	lifelineFd = 3
	reportFd   = 4
)

// guardOrder is what the guard is told.
type guardOrder struct {
	Timeout, Grace time.Duration
	Path           string
	Argv           []string
}

func guardArgs(self string, o guardOrder) []string {
	return append([]string{self, GuardArg, o.Timeout.String(), o.Grace.String(), o.Path}, o.Argv...)
}

func parseGuardArgs(args []string) (o guardOrder, err error) {
	if len(args) < 4 {
		return o, errors.New("too few arguments")
	}
	if o.Timeout, err = time.ParseDuration(args[0]); err != nil {
		return o, err
	}
	if o.Grace, err = time.ParseDuration(args[1]); err != nil {
		return o, err
	}
	o.Path, o.Argv = args[2], args[3:]
	return o, nil
}

func isGuard(args []string) bool { return len(args) > 1 && args[1] == GuardArg }

// Guard runs one operation on behalf of the agent that started this process, and outlives it. It returns the exit status
// of the process; args are the arguments after GuardArg.
func Guard(args []string) int {
	order, err := parseGuardArgs(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s is for internal use: %v\n", GuardArg, err)
		return exitUsage
	}
	// The parent-death signal of the operation is sent when the thread that started it ends.
	runtime.LockOSThread()
	syscall.CloseOnExec(lifelineFd)
	syscall.CloseOnExec(reportFd)
	adopt()

	g := guard{order: order, reporter: os.NewFile(reportFd, "report"), told: make(chan os.Signal, 1)}
	signal.Notify(g.told, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if !g.start() {
		return 0
	}
	g.watch()
	return 0
}

// guard follows one operation:
//
//	phase        until                                    then
//	running      the first process ends                   over, or settling if others are left
//	             the timeout, or the lifeline ends        stopping, after SIGTERM
//	settling     settleTime, or the lifeline ends         stopping, after SIGTERM
//	stopping     the grace ends                           killing, after SIGKILL
//	killing      undeadTime                               over
//	any          the first process has ended and          over
//	             nothing is left
type guard struct {
	order    guardOrder
	reporter *os.File
	report   report
	// operation is what it follows.
	operation operation
	// told receives the signals by which somebody else than the agent asks for an end.
	told chan os.Signal

	phase    phase
	deadline <-chan time.Time
	// look ticks once there may be processes of whose end nobody tells; until then the guard sleeps.
	look <-chan time.Time
}

type phase uint8

const (
	running phase = iota
	settling
	stopping
	killing
	over
)

// start executes the operation, and reports that there is nothing to watch if it cannot.
func (g *guard) start() bool {
	g.deadline = time.After(g.order.Timeout)
	pid, err := syscall.ForkExec(g.order.Path, g.order.Argv, &syscall.ProcAttr{
		Env:   os.Environ(),
		Files: []uintptr{0, 1, 2},
		Sys:   operationAttr(),
	})
	if err != nil {
		errors.As(err, &g.report.Errno)
		g.end()
		return false
	}
	g.report.Pid = pid
	g.operation = operation{session: os.Getpid(), group: pid}
	_ = g.report.write(g.reporter) // an agent that is not there any more is noticed by the lifeline
	return true
}

// end delivers the report.
func (g *guard) end() {
	g.phase = over
	g.report.Over = true
	_ = g.report.write(g.reporter)
}

// watch runs until the operation is over.
func (g *guard) watch() {
	cut := make(chan struct{})
	go awaitEnd(lifelineFd, cut)
	ends := make(chan end)
	go reap(ends)

	for g.phase != over {
		select {
		case <-cut:
			cut = nil
			g.onStop()
		case <-g.told:
			g.onStop()
		case e, ok := <-ends:
			if !ok {
				ends = nil
			}
			g.onEnd(e)
		case <-g.look:
			g.onLook()
		case <-g.deadline:
			g.onDeadline()
		}
	}
}

func (g *guard) onStop() {
	switch g.phase {
	case running:
		g.report.Stopped = true
		g.becomeStopping()
	case settling:
		g.report.Leftovers = true
		g.becomeStopping()
	case stopping, killing, over:
	}
}

func (g *guard) onDeadline() {
	switch g.phase {
	case running:
		g.report.TimedOut = true
		g.becomeStopping()
	case settling:
		g.report.Leftovers = true
		g.becomeStopping()
	case stopping:
		g.becomeKilling()
	case killing:
		g.report.Undead = true
		g.end()
	case over:
	}
}

// onEnd takes note of a process that has ended, the first one or one that was orphaned.
func (g *guard) onEnd(e end) {
	if e.pid == g.report.Pid {
		g.report.Reaped, g.report.Status = true, e.status
	}
	if !g.report.Reaped {
		return
	}
	if !g.operation.alive() {
		g.end()
		return
	}
	g.look = time.Tick(lookTime)
	if g.phase == running {
		g.phase, g.deadline = settling, time.After(settleTime)
	}
}

func (g *guard) onLook() {
	switch {
	case g.report.Reaped && !g.operation.alive():
		g.end()
	case g.phase == killing: // a process may have been born while its parent was being killed
		g.operation.signal(syscall.SIGKILL)
	}
}

func (g *guard) becomeStopping() {
	g.phase, g.deadline = stopping, time.After(g.order.Grace)
	g.operation.signal(syscall.SIGTERM)
	g.operation.signal(syscall.SIGCONT) // a process that is stopped (SIGSTOP) cannot obey
}

func (g *guard) becomeKilling() {
	g.phase, g.deadline, g.look = killing, time.After(undeadTime), time.Tick(lookTime)
	g.operation.signal(syscall.SIGKILL)
}

// end is a process that has ended.
type end struct {
	pid    int
	status syscall.WaitStatus
}

// reap waits for children until there are none, and closes ends then.
func reap(ends chan<- end) {
	defer close(ends)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return
		default:
			ends <- end{pid: pid, status: status}
		}
	}
}

// awaitEnd closes ended when the other end of a pipe is closed, be it that who held it was killed.
func awaitEnd(fd int, ended chan<- struct{}) {
	defer close(ended)
	buf := make([]byte, 1)
	for {
		if n, err := syscall.Read(fd, buf); n <= 0 && !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

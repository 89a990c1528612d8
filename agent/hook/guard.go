package hook

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/wanderd/wanderd/agent/hook/early"
)

// GuardName is the name under which a program that uses this package guards an operation, both as a process and in its
// arguments: killing by the program's name does not find it.
const GuardName = early.GuardName

// A program that uses this package acts as a guard before it does anything else, because the initialisation of other
// packages would take most of a guard's time. So this package imports little, and is initialised before them.
func init() {
	if len(os.Args) == 1 && os.Args[0] == GuardName {
		syscall.CloseOnExec(lifelineFd)
		syscall.CloseOnExec(reportFd)
		adopt()
		// On one processor the goroutines of a guard wake few threads, which is most of its work. The initialisation is
		// bound to the first thread; another goroutine is not. A read that blocked would keep the processor.
		runtime.GOMAXPROCS(1)
		_ = syscall.SetNonblock(lifelineFd, true)
		go func() { syscall.Exit(runGuard()) }() // os.Exit waits for a second under the race detector
		select {}
	}
}

// KillMargin is how long before the end of a grant the guard kills what is left: SIGKILL needs some time, too.
const KillMargin = 100 * time.Millisecond

const (
	// settleTime is how long the last processes of an operation may outlive the first one without a warning: a shell
	// does not wait for >(tee log).
	settleTime = 500 * time.Millisecond
	// lookTime is how often the guard looks for processes whose end is not reported to it; orphanLookTime is the same
	// while other members wait for their end.
	lookTime       = 100 * time.Millisecond
	orphanLookTime = 10 * time.Millisecond
	// undeadTime is how long the guard waits for the effect of SIGKILL.
	undeadTime = 5 * time.Second
	exitUsage  = 64

	// These are the descriptors that the guard inherits in addition to its standard streams, which it hands to the
	// operation. The guard of a caller's command has the first two from its caller, and a connection to the agent.
	lifelineFd   = 3
	reportFd     = 4
	connectionFd = 5
)

// runGuard runs one operation on behalf of the agent that started this process, and outlives it. It returns the exit
// status of the process.
func runGuard() int {
	g := guard{
		reporters: []io.Writer{os.NewFile(reportFd, "report")}, instructions: make(chan instruction),
		told: make(chan os.Signal, 1), starts: newParent(),
		operation: operation{session: os.Getpid()},
	}
	go readLifeline(os.NewFile(lifelineFd, "lifeline"), g.instructions)
	first := <-g.instructions
	if first.Await {
		_ = (&report{Up: true}).write(g.reporters[0])
	}
	// The caller waits for the report before, and nothing runs yet that a signal could end.
	signal.Notify(g.told, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	if first.Await {
		g.command.await(first.Apart)
		if first = <-g.instructions; first.Task == nil {
			return 0
		}
	}
	if first.Task == nil {
		fmt.Fprintf(os.Stderr, "%s is for internal use: nobody has told it what to guard\n", GuardName)
		return exitUsage
	}
	g.task = *first.Task
	if g.task.Command == nil {
		keepOutputOpen()
	} else {
		var begins bool
		if first, begins = g.beginCommand(); !begins {
			g.report.Unbegun = true
			g.end()
			return 0
		}
	}
	if !g.endsBy(g.task.Until) {
		g.report.Expired, g.report.Unbegun = true, true
		g.end()
		return 0
	}
	begun := g.start()
	g.onInstruction(first)
	g.watch(begun)
	return 0
}

// guard follows one operation:
//
//	phase        until                                    then
//	running      it cannot be executed                    over
//	             its grant ends after the grace           stopping, after SIGTERM
//	             the first process ends                   over, or settling if others are left
//	             the timeout, a stop, the agent's death   stopping, after SIGTERM
//	settling     settleTime, a stop, the agent's death    stopping, after SIGTERM
//	stopping     the grace ends, a short one if the       killing, after SIGKILL
//	             agent is dead; its grant ends
//	killing      undeadTime                               over
//	any          the first process has ended and          over
//	             nothing is left
//
// Executing the first process belongs to running: its file system may hang, and everything that ends a run ends that,
// too.
//
// A dead agent no longer hears of the operation's end, so it has begun nothing that follows that end: the pre-signed
// releases are true.
type guard struct {
	task      guardTask
	reporters []io.Writer
	report    report
	// operation is the operation that the guard follows.
	operation operation
	// instructions come from the agent. orphaned is true once no more can come; then words are the datagrams to send at
	// the end.
	instructions chan instruction
	orphaned     bool
	words        []Word
	// command has what only a caller's command needs.
	command command
	// until rings in time for the end of the grant, by boot time; it is set only if the grant has an end.
	until bootAlarm
	// starts carries what the parent of the operation's first process has to do.
	starts chan<- func()
	// told receives the signals by which someone other than the agent asks for the end.
	told chan os.Signal

	phase    phase
	deadline <-chan time.Time
	// look ticks once there may be processes whose end is not reported; until then the guard sleeps.
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

// beginning is the outcome of starting the first process: it was executed, or err is why not.
type beginning struct {
	pid    int
	cgroup cgroup
	err    error
}

// start executes the operation, and delivers the outcome.
func (g *guard) start() <-chan beginning {
	if g.task.Timeout > 0 {
		g.deadline = time.After(g.task.Timeout)
	}
	begun := make(chan beginning, 1)
	fork := func(env []string, attr *syscall.SysProcAttr) (int, error) {
		// The runtime does not see that a fork waits until the program is executed, and keeps the processor for it.
		runtime.GOMAXPROCS(2)
		defer runtime.GOMAXPROCS(1)
		stdin, done := g.task.stdin()
		defer done()
		return syscall.ForkExec(g.task.Path, g.task.Argv,
			&syscall.ProcAttr{Env: env, Files: []uintptr{stdin, 1, 2}, Sys: attr})
	}
	g.starts <- func() {
		if c := g.task.Command; c != nil {
			if g.command.apart {
				joinGroup(c.Group)
			}
			pid, err := fork(under(os.Environ(), c.Env), operationAttr(c.Group))
			if g.command.apart {
				leaveSession()
			}
			begun <- beginning{pid: pid, err: err}
			return
		}
		own := newCgroup()
		pid, outside, err := own.start(func(attr *syscall.SysProcAttr) (int, error) { return fork(os.Environ(), attr) })
		if !outside {
			own = cgroup{} // killing it would kill this process too
		}
		begun <- beginning{pid: pid, cgroup: own, err: err}
	}
	return begun
}

// stdin returns the standard input of the operation: the guard's, which is empty, or a pipe with the input of the task.
func (t *guardTask) stdin() (fd uintptr, done func()) {
	if len(t.Input) == 0 {
		return 0, func() {}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return 0, func() {}
	}
	_, _ = w.Write(t.Input[:min(len(t.Input), MaxInput)]) // The pipe has room for it.
	_ = w.Close()
	return r.Fd(), func() { _ = r.Close() }
}

// newParent makes the thread that starts the operation, before there is a task: making a thread takes time. The
// thread stays, because the operation gets its parent-death signal when the thread ends that started it.
func newParent() chan<- func() {
	starts := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range starts {
			start()
		}
	}()
	return starts
}

// onBegun records the first process, which may have been killed before it was executed.
func (g *guard) onBegun(b beginning) {
	g.operation.group, g.operation.cgroup = b.pid, b.cgroup
	if b.err != nil {
		errors.As(b.err, &g.report.Errno)
		g.end()
		return
	}
	g.report.Pid = b.pid
	// It had been executed before it was told to end, although that is reported only afterwards.
	g.report.Unbegun = g.report.Unbegun && !executed(b.pid)
	g.tell()
	for _, sig := range g.command.early {
		_ = syscall.Kill(b.pid, sig)
	}
	switch g.phase { // it may have been born after it was told to end
	case stopping:
		g.operation.tellToEnd()
	case killing:
		g.operation.killAll()
	case running, settling, over:
	}
}

// tell delivers the report so far. Errors are ignored: the lifeline tells that an agent has gone.
func (g *guard) tell() {
	for _, to := range g.reporters {
		_ = g.report.write(to)
	}
}

// end delivers the report, and sends the pre-signed releases if the agent is no longer there to read it.
func (g *guard) end() {
	g.phase = over
	g.report.Over = true
	g.command.wakeCaller()
	g.tell()
	g.operation.cgroup.remove()
	g.until.remove()
	if g.orphaned && !g.report.Undead {
		say(g.words)
	}
}

// gone reports whether nothing is left that has to end. Processes that have left the session may stay, unless all have
// to be killed.
func (g *guard) gone() bool {
	return g.report.Reaped && !g.operation.alive(g.orphaned || g.phase == killing)
}

// watch runs until the operation is over.
func (g *guard) watch(begun <-chan beginning) {
	ends := make(chan end)
	for g.phase != over {
		select {
		case b := <-begun:
			g.onBegun(b)
			// not before, because starting the process waits for its own child if it cannot be executed
			go reap(ends, g.command.alsoStops())
		case next, ok := <-g.instructions:
			if !ok {
				g.instructions = nil
				g.onOrphaned()
				continue
			}
			g.onInstruction(next)
		case next, ok := <-g.command.caller:
			if !ok {
				g.command.caller = nil
				g.onStop() // the caller has died
				continue
			}
			g.onSignal(next.Signal)
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
		case <-g.until.rings:
			g.onUntil()
		}
	}
}

func (g *guard) onInstruction(next instruction) {
	if next.Words != nil {
		g.words = *next.Words
	}
	if !g.endsBy(next.Until) {
		g.expire()
	}
	if next.Stop {
		g.onStop()
	}
}

// endsBy sets the end of the grant, unless until is zero, and reports whether there is time left until the operation
// has to end. Without a clock that can count to the end, no time is left.
func (g *guard) endsBy(until time.Duration) bool {
	if until == 0 {
		return true
	}
	g.task.Until = until
	at := until - KillMargin - g.task.Grace
	return g.until.set(at) && sinceBoot() < at
}

// onUntil: the alarm rings. If the grant was extended meanwhile, nothing ends.
func (g *guard) onUntil() {
	if sinceBoot() >= g.task.Until-KillMargin-g.task.Grace {
		g.expire()
	}
}

// expire: the grant ends. First the operation is told to end, and a grace later it is killed.
func (g *guard) expire() {
	switch g.phase {
	case running:
		g.report.Expired, g.report.Unbegun = true, g.report.Pid == 0
	case settling:
		g.report.Leftovers = true
	case stopping:
	case killing, over:
		return
	}
	kill := g.task.Until - KillMargin
	switch {
	case sinceBoot() >= kill || !g.until.set(kill):
		g.becomeKilling()
	case g.phase != stopping:
		g.becomeStopping(g.task.Grace)
	}
}

func (g *guard) onStop() {
	switch g.phase {
	case running:
		g.report.Stopped = true
	case settling:
		g.report.Leftovers = true
	case stopping, killing, over:
		return
	}
	g.becomeStopping(g.task.Grace)
}

// onOrphaned: the agent has died. From now on the token's guardians wait for the end of the operation, so little grace
// is left.
func (g *guard) onOrphaned() {
	g.orphaned, g.report.Orphaned = true, true
	g.look = time.Tick(orphanLookTime)
	switch g.phase {
	case running, settling, stopping:
		g.becomeStopping(g.task.OrphanGrace)
	case killing, over:
	}
}

func (g *guard) onDeadline() {
	switch g.phase {
	case running:
		g.report.TimedOut, g.report.Unbegun = true, g.report.Pid == 0
		g.becomeStopping(g.task.Grace)
	case settling:
		g.report.Leftovers = true
		g.becomeStopping(g.task.Grace)
	case stopping:
		g.becomeKilling()
	case killing:
		g.report.Undead = true
		g.end()
	case over:
	}
}

// onEnd records a process that has ended, either the first one or an orphan.
func (g *guard) onEnd(e end) {
	if e.status.Stopped() || e.status.Continued() {
		if e.pid == g.report.Pid {
			g.command.mirror(e.status)
		}
		return
	}
	if e.pid == g.report.Pid {
		g.report.Reaped, g.report.Status = true, e.status
	}
	if !g.report.Reaped {
		return
	}
	if g.gone() {
		g.end()
		return
	}
	if g.look == nil {
		g.look = time.Tick(lookTime)
	}
	if g.phase == running {
		g.phase, g.deadline = settling, time.After(settleTime)
	}
}

func (g *guard) onLook() {
	switch {
	case g.gone():
		g.end()
	case g.phase == killing: // a process may have been born while its parent was being killed
		g.operation.killAll()
	}
}

func (g *guard) becomeStopping(grace time.Duration) {
	g.phase, g.deadline = stopping, time.After(grace)
	g.operation.tellToEnd()
}

func (g *guard) becomeKilling() {
	g.phase, g.deadline = killing, time.After(undeadTime)
	switch {
	case g.orphaned: // the guard looks already
	case g.task.Until != 0:
		g.look = time.Tick(orphanLookTime)
	default:
		g.look = time.Tick(lookTime)
	}
	g.operation.killAll()
}

// end is a process that has ended.
type end struct {
	pid    int
	status syscall.WaitStatus
}

// reap waits for children until there are none, and then closes ends. The options are those of wait4(2).
func reap(ends chan<- end, options int) {
	defer close(ends)
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, options, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return
		default:
			ends <- end{pid: pid, status: status}
		}
	}
}

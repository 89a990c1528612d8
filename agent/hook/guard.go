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
)

// GuardName is what a program that uses this package is called when it is to guard an operation, as a process and in
// its arguments: killing by the program's name does not find it.
const GuardName = "hook-guard"

// A program that uses this package is a guard before it is anything else: what other packages prepare at the start
// would take most of a guard's time. So this package imports little, and they come later.
func init() {
	if len(os.Args) == 1 && os.Args[0] == GuardName {
		syscall.Exit(runGuard()) // os.Exit waits for a second under the race detector
	}
}

// KillMargin is how long before the end of a grant the guard kills what is left: SIGKILL takes its time, too.
const KillMargin = 100 * time.Millisecond

const (
	// settleTime is how long the last processes of an operation may outlive its first without a word: a shell does not
	// wait for >(tee log).
	settleTime = 500 * time.Millisecond
	// lookTime is how often the guard looks for processes whose end nobody reports to it, orphanLookTime the same when
	// others wait for that end.
	lookTime       = 100 * time.Millisecond
	orphanLookTime = 10 * time.Millisecond
	// undeadTime is how long the guard waits for the effect of SIGKILL.
	undeadTime = 5 * time.Second
	exitUsage  = 64

	// What the guard inherits beside its standard streams, which it hands to the operation: the guard of a caller's
	// command has the first two from its caller, and a connection to the agent.
	lifelineFd   = 3
	reportFd     = 4
	connectionFd = 5
)

// runGuard runs one operation on behalf of the agent that started this process, and outlives it. It returns the exit
// status of the process.
func runGuard() int {
	syscall.CloseOnExec(lifelineFd)
	syscall.CloseOnExec(reportFd)
	adopt()

	g := guard{
		reporters: []io.Writer{os.NewFile(reportFd, "report")}, instructions: make(chan instruction),
		told:      make(chan os.Signal, 1),
		operation: operation{session: os.Getpid()},
	}
	signal.Notify(g.told, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	go readLifeline(os.NewFile(lifelineFd, "lifeline"), g.instructions)
	first := <-g.instructions
	if first.Await {
		_ = (&report{Up: true}).write(g.reporters[0])
		if first = <-g.instructions; first.Order == nil {
			return 0
		}
	}
	if first.Order == nil {
		fmt.Fprintf(os.Stderr, "%s is for internal use: nobody has told it what to guard\n", GuardName)
		return exitUsage
	}
	g.order = *first.Order
	if g.order.Command == nil {
		keepOutputOpen()
	} else {
		var begins bool
		if first, begins = g.beginCommand(); !begins {
			g.report.Unbegun = true
			g.end()
			return 0
		}
	}
	if !g.endsBy(g.order.Until) {
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
// Executing the first process belongs to running: the file system that it lies on may hang, and all that ends a run
// ends that, too.
//
// An agent that dies is told of no end any more, so it has begun nothing that follows upon one: the pre-signed releases
// are true.
type guard struct {
	order     guardOrder
	reporters []io.Writer
	report    report
	// operation is what it follows.
	operation operation
	// instructions come from the agent; orphaned says that there will be none any more, and words are what is to be
	// said then.
	instructions chan instruction
	orphaned     bool
	words        []Word
	// command is what is particular to a caller's command.
	command command
	// until counts to the end of the grant by boot time; it is there if there is one.
	until bootAlarm
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

// beginning is what has become of the first process: it is executed, or err says why not.
type beginning struct {
	pid    int
	cgroup cgroup
	err    error
}

// start has the operation executed, and delivers what has become of that.
func (g *guard) start() <-chan beginning {
	if g.order.Timeout > 0 {
		g.deadline = time.After(g.order.Timeout)
	}
	begun := make(chan beginning, 1)
	fork := func(env []string, attr *syscall.SysProcAttr) (int, error) {
		return syscall.ForkExec(g.order.Path, g.order.Argv,
			&syscall.ProcAttr{Env: env, Files: []uintptr{0, 1, 2}, Sys: attr})
	}
	go func() {
		// The parent-death signal of the operation is sent when the thread that started it ends.
		runtime.LockOSThread()
		if c := g.order.Command; c != nil {
			if c.Apart {
				joinGroup(c.Group)
			}
			pid, err := fork(under(os.Environ(), c.Env), operationAttr(c.Group))
			if c.Apart {
				leaveSession()
			}
			begun <- beginning{pid: pid, err: err}
			select {}
		}
		own := newCgroup()
		pid, outside, err := own.start(func(attr *syscall.SysProcAttr) (int, error) { return fork(os.Environ(), attr) })
		if !outside {
			own = cgroup{} // killing it would kill this process too
		}
		begun <- beginning{pid: pid, cgroup: own, err: err}
		select {}
	}()
	return begun
}

// onBegun takes note of the first process. It may have been killed before it was executed.
func (g *guard) onBegun(b beginning) {
	g.operation.group, g.operation.cgroup = b.pid, b.cgroup
	if b.err != nil {
		errors.As(b.err, &g.report.Errno)
		g.end()
		return
	}
	g.report.Pid = b.pid
	// It had been executed already, although that is told only after it was told to end.
	g.report.Unbegun = g.report.Unbegun && !executed(b.pid)
	g.tell()
	for _, sig := range g.command.early {
		_ = syscall.Kill(b.pid, sig)
	}
	switch g.phase { // it may have been born after it was to end
	case stopping:
		g.operation.tellToEnd()
	case killing:
		g.operation.killAll()
	case running, settling, over:
	}
}

// tell delivers the report, as far as it goes. An agent that is not there any more is noticed by the lifeline.
func (g *guard) tell() {
	for _, to := range g.reporters {
		_ = g.report.write(to)
	}
}

// end delivers the report; or says the pre-signed releases, if nobody is left to read it.
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

// gone reports whether nothing is left that has to end: what has left the session may stay, unless all has to be
// killed.
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
			go reap(ends, g.command.alsoStops()) // not before: whoever executes it waits for what cannot be executed
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
				g.onStop() // it has died
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

// endsBy sets the end of the grant, unless that is zero, and reports whether there is time left until the operation has
// to end. Without a clock that counts to it there is none.
func (g *guard) endsBy(until time.Duration) bool {
	if until == 0 {
		return true
	}
	g.order.Until = until
	at := until - KillMargin - g.order.Grace
	return g.until.set(at) && sinceBoot() < at
}

// onUntil: the alarm rings, unless the grant was extended meanwhile.
func (g *guard) onUntil() {
	if sinceBoot() >= g.order.Until-KillMargin-g.order.Grace {
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
	kill := g.order.Until - KillMargin
	switch {
	case sinceBoot() >= kill || !g.until.set(kill):
		g.becomeKilling()
	case g.phase != stopping:
		g.becomeStopping(g.order.Grace)
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
	g.becomeStopping(g.order.Grace)
}

// onOrphaned: the agent has died. From now on the token's guardians wait for the end of the operation, and so little
// grace is left.
func (g *guard) onOrphaned() {
	g.orphaned, g.report.Orphaned = true, true
	g.look = time.Tick(orphanLookTime)
	switch g.phase {
	case running, settling, stopping:
		g.becomeStopping(g.order.OrphanGrace)
	case killing, over:
	}
}

func (g *guard) onDeadline() {
	switch g.phase {
	case running:
		g.report.TimedOut, g.report.Unbegun = true, g.report.Pid == 0
		g.becomeStopping(g.order.Grace)
	case settling:
		g.report.Leftovers = true
		g.becomeStopping(g.order.Grace)
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
	case g.orphaned: // it looks already
	case g.order.Until != 0:
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

// reap waits for children until there are none, and closes ends then. The options are those of wait4(2).
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

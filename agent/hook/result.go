package hook

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Result is how an operation ended.
type Result struct {
	// Exit is the exit status of the first process; -1 if a signal killed it, it was never executed, or it is Undead.
	Exit int
	// Signal names the signal that killed the first process, as in "SIGKILL"; empty if none did.
	Signal string
	// Code is both as a shell has them in $?: the exit status, or 128 plus the number of the signal; -1 if there is
	// neither.
	Code int
	// Err is nil after exit status 0 without a timeout or a stop, and otherwise what happened.
	Err error
	// TimedOut is true if the timeout struck; Stopped if the operation was told to stop before (Stop, or a signal to
	// the guard).
	TimedOut, Stopped bool
	// Expired is true if the grant ended, by the guard's own clock; Orphaned if the agent died.
	Expired, Orphaned bool
	// Leftovers is true if the first process ended while others of its session lived on, until they were stopped.
	Leftovers bool
	// Undead is true if processes of the session have not died of SIGKILL in time: they wait for a disk or a network
	// file system, and the operation may not be over.
	Undead bool
	// Detached is true if a process that had left the session still held the output when all others were gone.
	Detached bool
	// NotExecuted is true if the operation has not begun at all.
	NotExecuted bool
	// Took is the time from the start until nothing was left.
	Took time.Duration
	// Tail is the end of the output: the last lines, shortened if they are long.
	Tail []string
	// LinesDropped and BytesDropped count the output that was too much for the log.
	LinesDropped, BytesDropped int64
}

// exitNotNow is the exit status of a hook that cannot do its work now: sysexits' EX_TEMPFAIL, "try again later".
const exitNotNow = 75

// NotNow reports whether a hook has ended by itself with the status "I cannot do my work now". That is not a failure,
// although Err has that end, too.
func (r *Result) NotNow() bool {
	return r.Exit == exitNotNow && !r.TimedOut && !r.Stopped && !r.Expired && !r.Orphaned && !r.Undead
}

// Status returns how a run has ended as a shell or timeout(1) reports it: 0 to 255.
func (r *Result) Status() uint8 {
	const timedOut, notExecutable, other = 124, 126, 255
	switch {
	case r.TimedOut:
		return timedOut
	case r.NotExecuted:
		return notExecutable
	case r.Signal != "":
		return uint8(r.Code)
	case r.Exit >= 0:
		return uint8(min(r.Exit, other))
	}
	return other
}

// describe returns the error of a process that was executed; nil if all is well.
func (r *Result) describe(spec Spec) error {
	ending := fmt.Sprintf("exit status %d", r.Exit)
	switch {
	case r.Signal != "":
		ending = "killed by " + r.Signal
	case r.Exit < 0:
		ending = "not dead yet"
	}
	ignored := ""
	if r.Signal == signalName(syscall.SIGKILL) {
		ignored = fmt.Sprintf("it did not stop within %v of SIGTERM; ", spec.Grace)
	}
	switch {
	case r.TimedOut && spec.command:
		return fmt.Errorf("stopped after its timeout (%s%s)", ignored, ending)
	case r.TimedOut:
		raise := "--hook-timeout"
		switch {
		case spec.Question:
			raise = "--ready-timeout"
		case spec.For != "":
			raise = "its timeout"
		}
		return fmt.Errorf("stopped after its timeout of %v (%s%s): make it faster, or raise %s", spec.Timeout, ignored,
			ending, raise)
	case r.Expired:
		return fmt.Errorf("stopped at the end of its grant (%s%s): the agent did not get it extended, or stood still",
			ignored, ending)
	case r.Stopped:
		return fmt.Errorf("stopped (%s%s)", ignored, ending)
	case r.Undead:
		return fmt.Errorf("not over: %s, but processes of it survive SIGKILL", ending)
	case r.Exit != 0:
		return errors.New(ending)
	}
	return nil
}

// warn logs what an operator should know and no exit status shows.
func (r *Result) warn(log Log) {
	if r.LinesDropped > 0 {
		log.Warn(fmt.Sprintf("… %d lines (%d bytes) of the hook's output were dropped", r.LinesDropped, r.BytesDropped),
			"lines", r.LinesDropped, "bytes", r.BytesDropped)
	}
	if r.Leftovers {
		log.Warn("the hook left processes behind, which were stopped: let it wait for them, " +
			"or start daemons with setsid")
	}
	if r.Undead {
		log.Warn("processes of the hook survive SIGKILL: look for a disk or network file system that hangs")
	}
	if r.Detached {
		log.Warn("a daemon that the hook started still holds its output, which is read no longer: " +
			"redirect the output of daemons")
	}
}

// signalName returns the name by which operators know a signal.
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("signal %d", int(s))
}

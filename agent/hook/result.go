package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"
)

// Result is how an operation ended.
type Result struct {
	// Exit is the exit status of the first process; -1 if a signal killed it, it was never executed, or it is Undead.
	Exit int
	// Signal names the signal that killed the first process, as in "SIGKILL"; empty if none did.
	Signal string
	// Code is both as a shell has them in $?: the exit status, or 128 and the number of the signal; -1 if there is neither.
	Code int
	// Err is nil after exit status 0 without a timeout or a stop, and says what happened otherwise.
	Err error
	// TimedOut says that the timeout struck; Stopped that it was told to stop before (Stop, or a signal to the guard).
	TimedOut, Stopped bool
	// Expired says that its grant ended, by its guard's own count; Orphaned that its agent died.
	Expired, Orphaned bool
	// Leftovers says that the first process ended while others of its session lived on, until they were stopped.
	Leftovers bool
	// Undead says that processes of the session have not died of SIGKILL in time: they wait for a disk or a network file
	// system, and the operation may not be over.
	Undead bool
	// Detached says that a process that had left the session still held the output when all the others were gone.
	Detached bool
	// NotExecuted says that it has not begun at all.
	NotExecuted bool
	// Took is the time from the start until nothing was left.
	Took time.Duration
	// Tail is the end of the output: the last lines, shortened if they are long.
	Tail []string
	// LinesDropped and BytesDropped count what was too much for the log.
	LinesDropped, BytesDropped int64
}

// exitNotNow is the exit status of a hook that cannot do its work now: sysexits' EX_TEMPFAIL, "try again later".
const exitNotNow = 75

// NotNow reports whether a hook has ended by itself and said that it cannot do its work now. That is not a failure, although Err says how
// it has ended.
func (r *Result) NotNow() bool {
	return r.Exit == exitNotNow && !r.TimedOut && !r.Stopped && !r.Expired && !r.Orphaned && !r.Undead
}

// Status is how a run has ended as a shell tells it, or timeout(1): 0 to 255.
func (r *Result) Status() uint8 {
	const timedOut, notExecutable, other = 124, 126, 255
	switch {
	case r.TimedOut:
		return timedOut
	case r.NotExecuted:
		return notExecutable
	case r.Signal != "":
		return uint8(signaled + unix.SignalNum(r.Signal))
	case r.Exit >= 0:
		return uint8(min(r.Exit, other))
	}
	return other
}

// signaled is what a shell adds to the number of a signal.
const signaled = 128

// describe returns the error of a process that was executed, nil if all is well.
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
		if spec.Question {
			raise = "--ready-timeout"
		}
		return fmt.Errorf("stopped after its timeout of %v (%s%s): make it faster, or raise %s", spec.Timeout, ignored, ending, raise)
	case r.Expired:
		return fmt.Errorf("stopped at the end of its grant (%s%s): the agent did not get it extended, or stood still", ignored, ending)
	case r.Stopped:
		return fmt.Errorf("stopped (%s%s)", ignored, ending)
	case r.Undead:
		return fmt.Errorf("not over: %s, but processes of it survive SIGKILL", ending)
	case r.Exit != 0:
		return errors.New(ending)
	}
	return nil
}

// warn logs what an operator should know and no exit status tells.
func (r *Result) warn(log zerolog.Logger) {
	if r.LinesDropped > 0 {
		log.Warn().Int64("lines", r.LinesDropped).Int64("bytes", r.BytesDropped).
			Msgf("… %d lines (%d bytes) of the hook's output were dropped", r.LinesDropped, r.BytesDropped)
	}
	if r.Leftovers {
		log.Warn().Msg("the hook left processes behind, which were stopped: let it wait for them, " +
			"or start daemons with setsid")
	}
	if r.Undead {
		log.Warn().Msg("processes of the hook survive SIGKILL: look for a disk or network file system that hangs")
	}
	if r.Detached {
		log.Warn().Msg("a daemon that the hook started still holds its output, which is read no longer: " +
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

// report is what the guard tells the agent, as two JSON documents: the first, at the start, has only Pid. The guard of a caller's
// command tells both of them to the caller, too, and the agent first that it is ready.
type report struct {
	// Up says that the guard of a command waits for its order.
	Up bool `json:"up,omitempty"`
	// Ready says that the command is about to be executed, if the agent says so.
	Ready bool `json:"ready,omitempty"`
	// Pid is the operation's first process, and the number of its process group.
	Pid int `json:"pid,omitempty"`
	// Over marks the second document.
	Over bool `json:"over,omitempty"`
	// Errno says why the operation could not be executed; zero if it was.
	Errno syscall.Errno `json:"errno,omitempty"`
	// Unbegun says that its timeout struck before it had been executed.
	Unbegun bool `json:"unbegun,omitempty"`
	// Reaped says that the first process has ended, with Status.
	Reaped bool               `json:"reaped,omitempty"`
	Status syscall.WaitStatus `json:"status,omitempty"`
	// TimedOut and Stopped say why the guard told the operation to stop, if it did while the first process was alive.
	TimedOut bool `json:"timed_out,omitempty"`
	Stopped  bool `json:"stopped,omitempty"`
	// Expired says that the end of its grant came first.
	Expired bool `json:"expired,omitempty"`
	// Leftovers says that processes of the session outlived the first and had to be told to stop.
	Leftovers bool `json:"leftovers,omitempty"`
	// Undead says that processes of the session have survived SIGKILL so far.
	Undead bool `json:"undead,omitempty"`
	// Orphaned says that the agent died, or closed its end, before the operation was over.
	Orphaned bool `json:"orphaned,omitempty"`

	// GuardDied is the agent's own finding: the second document never came.
	GuardDied bool `json:"-"`
}

func (r *report) complete() bool { return r.Over }

func (r *report) write(w io.Writer) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// readReport reads until the guard has no more to say. told, if not nil, gets each document.
func readReport(from io.Reader, told func(report)) report {
	var last report
	documents := json.NewDecoder(from)
	for !last.Over {
		next := last
		if documents.Decode(&next) != nil {
			break
		}
		last = next
		if told != nil {
			told(last)
		}
	}
	return last
}

// result makes the Result of what the guard has reported.
func (r *report) result(spec Spec, took time.Duration) Result {
	res := Result{
		Exit: -1, Code: -1, Took: took, TimedOut: r.TimedOut, Stopped: r.Stopped, Expired: r.Expired, Orphaned: r.Orphaned,
		Leftovers: r.Leftovers, Undead: r.Undead,
	}
	if r.GuardDied {
		res.Err = fmt.Errorf("%s was killed, as its guard had died or did not answer", spec.name())
		return res
	}
	switch {
	case r.Errno != 0:
		res.Err = fmt.Errorf("%s cannot be executed: %w", spec.name(), r.Errno)
	case r.Unbegun && r.Expired:
		res.Err = fmt.Errorf("%s did not begin to run before its grant ended", spec.name())
	case r.Unbegun && r.TimedOut:
		res.Err = fmt.Errorf("%s did not begin to run within its timeout of %v: does the file system that it lies on hang?", spec.name(), spec.Timeout)
	case r.Unbegun:
		res.Err = fmt.Errorf("%s did not begin to run before it was stopped", spec.name())
	}
	if res.NotExecuted = res.Err != nil; res.NotExecuted {
		return res
	}
	switch {
	case !r.Reaped:
	case r.Status.Exited():
		res.Exit = r.Status.ExitStatus()
		res.Code = res.Exit
	case r.Status.Signaled():
		res.Signal = signalName(r.Status.Signal())
		res.Code = signaled + int(r.Status.Signal())
	}
	res.Err = res.describe(spec)
	return res
}

package hook

import (
	"encoding/json"
	"fmt"
	"io"
	"syscall"
	"time"
)

// report is what the guard tells the agent, as two JSON documents: the first, at the start, has only Pid.
type report struct {
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

// readReport reads until the guard has no more to say.
func readReport(from io.Reader) report {
	var last report
	documents := json.NewDecoder(from)
	for !last.Over {
		next := last
		if documents.Decode(&next) != nil {
			break
		}
		last = next
	}
	return last
}

// result says the same in an operator's terms.
func (r *report) result(spec Spec, took time.Duration) Result {
	res := Result{
		Exit: -1, Took: took, TimedOut: r.TimedOut, Stopped: r.Stopped, Expired: r.Expired, Leftovers: r.Leftovers, Undead: r.Undead,
	}
	switch {
	case r.GuardDied:
		res.Err = fmt.Errorf("hook %s was killed, as its guard had died or did not answer", spec.Argv[0])
		return res
	case r.Errno != 0:
		res.NotExecuted = true
		res.Err = fmt.Errorf("hook %s cannot be executed: %w", spec.Argv[0], r.Errno)
		return res
	case r.Unbegun && r.Expired:
		res.NotExecuted = true
		res.Err = fmt.Errorf("hook %s did not begin to run before its grant ended", spec.Argv[0])
		return res
	case r.Unbegun:
		res.NotExecuted = true
		res.Err = fmt.Errorf("hook %s did not begin to run within its timeout of %v: does the file system that it lies on hang?", spec.Argv[0], spec.Timeout)
		return res
	case !r.Reaped:
	case r.Status.Exited():
		res.Exit = r.Status.ExitStatus()
	case r.Status.Signaled():
		res.Signal = signalName(r.Status.Signal())
	}
	res.Err = res.describe(spec)
	return res
}

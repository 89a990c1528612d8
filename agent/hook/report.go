package hook

import (
	"encoding/json"
	"fmt"
	"io"
	"syscall"
	"time"
)

// report is what the guard tells the agent, as two JSON documents; the first, at the start, has only Pid. The guard of
// a caller's command tells both of them to the caller, too, and before them tells the agent that it is ready.
type report struct {
	// Up is true once the guard of a command waits for its task.
	Up bool `json:"up,omitempty"`
	// Ready is true when the command is about to be executed, as soon as the agent allows it.
	Ready bool `json:"ready,omitempty"`
	// Pid is the operation's first process, and the number of its process group.
	Pid int `json:"pid,omitempty"`
	// Over marks the second document.
	Over bool `json:"over,omitempty"`
	// Errno is why the operation could not be executed; zero if it was.
	Errno syscall.Errno `json:"errno,omitempty"`
	// Unbegun is true if the timeout struck before the operation had been executed.
	Unbegun bool `json:"unbegun,omitempty"`
	// Reaped is true if the first process has ended, with Status.
	Reaped bool               `json:"reaped,omitempty"`
	Status syscall.WaitStatus `json:"status,omitempty"`
	// TimedOut, Stopped and Expired are why the guard told the operation to stop, if it did so while the first process
	// was alive. Orphaned is true if the agent died, or closed its end, before the operation was over. For the others
	// see [Result].
	TimedOut  bool `json:"timed_out,omitempty"`
	Stopped   bool `json:"stopped,omitempty"`
	Expired   bool `json:"expired,omitempty"`
	Leftovers bool `json:"leftovers,omitempty"`
	Undead    bool `json:"undead,omitempty"`
	Orphaned  bool `json:"orphaned,omitempty"`

	// GuardDied is what the agent finds by itself if the second document never came.
	GuardDied bool `json:"-"`
}

func (r *report) write(w io.Writer) error { return json.NewEncoder(w).Encode(r) }

// maxReports bounds all that a guard reports, in bytes: three documents of some hundred bytes each. It is needed
// because the guard of a command is another user's process.
const maxReports = 4 << 10

// readReport reads until the guard reports no more, or has reported too much. told, if not nil, gets each document.
func readReport(from io.Reader, told func(report)) report {
	var last report
	documents := json.NewDecoder(io.LimitReader(from, maxReports))
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

// result converts the report to an operator's terms.
func (r *report) result(spec Spec, took time.Duration) Result {
	res := Result{
		Exit: -1, Code: -1, Took: took, TimedOut: r.TimedOut, Stopped: r.Stopped, Expired: r.Expired,
		Orphaned:  r.Orphaned,
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
		res.Err = fmt.Errorf("%s did not begin to run within its timeout of %v: does the file system that it lies on "+
			"hang?", spec.name(), spec.Timeout)
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
		res.Code = 128 + int(r.Status.Signal())
	}
	res.Err = res.describe(spec)
	return res
}

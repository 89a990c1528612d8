package hook

import (
	"encoding/json"
	"io"
	"sync"
	"syscall"
	"time"
)

// guardTask is what the guard has to do.
type guardTask struct {
	Path string   `json:"path"`
	Argv []string `json:"argv"`
	// Input is the standard input of the operation.
	Input []byte `json:"input,omitempty"`
	Limits
	// Command is present if the operation is a caller's command.
	Command *commandTask `json:"command,omitempty"`
}

// commandTask is what the guard of a caller's command is told in addition.
type commandTask struct {
	// Group is the process group of the caller, in which the command runs.
	Group int `json:"group"`
	// Env is what the grant adds to the caller's environment.
	Env []string `json:"env"`
	// Heard is what the caller has already read of the agent's messages to the guard.
	Heard []byte `json:"heard,omitempty"`
}

// instruction is what the agent tells the guard, as JSON documents on the lifeline: the first has the task. Nothing of
// it is in the guard's arguments or environment, which other users can read. The guard of a caller's command has the
// task from its caller, and the rest from the agent.
type instruction struct {
	Task *guardTask `json:"task,omitempty"`
	// Await, in the first document, is true if the task follows later, or never comes.
	Await bool `json:"await,omitempty"`
	// Apart, with Await, is true if the guard will have to leave the caller's session; see leaveSession.
	Apart bool `json:"apart,omitempty"`
	// Grant tells a caller that its command may run. Go tells the command's guard that it does: the guard has reported
	// in time that it is ready.
	Grant *Grant `json:"grant,omitempty"`
	Go    bool   `json:"go,omitempty"`
	// Signal is for the first process of the operation.
	Signal syscall.Signal `json:"signal,omitempty"`
	// Stop ends the operation.
	Stop bool `json:"stop,omitempty"`
	// Until, if it is not zero, replaces the Until of the task.
	Until time.Duration `json:"until,omitempty"`
	// Words, if present, replaces all earlier ones.
	Words *[]Word `json:"words,omitempty"`
}

// lifeline is the agent's end. A goroutine of its own writes to the guard, because a guard that stands still must not
// block the agent. An instruction that was not written in time is replaced by the next one.
type lifeline struct {
	pipe io.Writer
	wake chan struct{}

	mu   sync.Mutex
	next instruction
}

func newLifeline(pipe io.Writer) *lifeline {
	return &lifeline{pipe: pipe, wake: make(chan struct{}, 1)}
}

// tell changes the next instruction.
func (l *lifeline) tell(change func(next *instruction)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.next)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// write writes instructions to the guard, until the operation is over or the pipe is closed.
func (l *lifeline) write(over <-chan struct{}) {
	to := json.NewEncoder(l.pipe)
	for {
		select {
		case <-over:
			return
		case <-l.wake:
		}
		l.mu.Lock()
		next := l.next
		l.next = instruction{}
		l.mu.Unlock()
		if to.Encode(&next) != nil {
			return
		}
	}
}

// maxInstruction bounds one document of the lifeline, in bytes. The longest has the arguments of a command: 2 MiB for
// Linux, six times as many in JSON.
const maxInstruction = 16 << 20

// readLifeline hands on the agent's instructions. It closes told when the agent has died: when it was killed, or when
// it sends what no agent sends.
func readLifeline(from io.Reader, told chan<- instruction) {
	defer close(told)
	bounded := &io.LimitedReader{R: from}
	for documents := json.NewDecoder(bounded); ; {
		var next instruction
		bounded.N = maxInstruction
		if documents.Decode(&next) != nil {
			return
		}
		told <- next
	}
}

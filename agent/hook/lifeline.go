package hook

import (
	"encoding/json"
	"io"
	"sync"
	"syscall"
	"time"
)

// guardOrder is what the guard is to do.
type guardOrder struct {
	Path string   `json:"path"`
	Argv []string `json:"argv"`
	Limits
	// Command is there if the operation is a caller's command.
	Command *commandOrder `json:"command,omitempty"`
}

// commandOrder is what the guard of a caller's command is told beside.
type commandOrder struct {
	// Group is the process group of the caller, in which the command runs.
	Group int `json:"group"`
	// Apart says that the guard leaves the caller's session; see leaveSession.
	Apart bool `json:"apart,omitempty"`
	// Env is what the grant adds to the caller's environment.
	Env []string `json:"env"`
	// Heard is what the caller has read already of what the agent says to the guard.
	Heard []byte `json:"heard,omitempty"`
}

// instruction is what the agent tells the guard, as JSON documents on the lifeline: the first has the order. None of it
// stands in the guard's arguments or environment, which others can read. The guard of a caller's command has the order
// from its caller, and the rest from the agent.
type instruction struct {
	Order *guardOrder `json:"order,omitempty"`
	// Await, in the first document, says that the order follows, or never comes.
	Await bool `json:"await,omitempty"`
	// Grant tells a caller that its command may run, Go its guard that it runs: it has said in time that it is ready.
	Grant *Grant `json:"grant,omitempty"`
	Go    bool   `json:"go,omitempty"`
	// Signal is for the first process of the operation.
	Signal syscall.Signal `json:"signal,omitempty"`
	// Stop ends the operation.
	Stop bool `json:"stop,omitempty"`
	// Until, if it is not zero, replaces that of the order.
	Until time.Duration `json:"until,omitempty"`
	// Words, if it is there, replaces all that was to be said before.
	Words *[]Word `json:"words,omitempty"`
}

// lifeline is the agent's end. What it is told goes to the guard from a goroutine of its own, for a guard that stands
// still must not make the agent stand still; what was not told in time is replaced by what comes later.
type lifeline struct {
	pipe io.Writer
	wake chan struct{}

	mu   sync.Mutex
	next instruction
}

func newLifeline(pipe io.Writer) *lifeline {
	return &lifeline{pipe: pipe, wake: make(chan struct{}, 1)}
}

// tell changes what the guard is told next.
func (l *lifeline) tell(change func(next *instruction)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(&l.next)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// write tells the guard what there is to tell, until the operation is over or the pipe is closed.
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

// readLifeline hands on what the agent tells, and closes told when the agent has died, be it that it was killed, or
// says what no agent says.
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

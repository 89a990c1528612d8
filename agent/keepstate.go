package agent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/wanderd/wanderd/agent/beside"
	"github.com/wanderd/wanderd/agent/control"
)

// lookEvery is the interval of the checks that the state directory still exists.
const lookEvery = 10 * time.Second

// stateLoss records losses of the state directory while the agent ran. Only the loop uses it.
type stateLoss struct {
	count uint64
	last  time.Time
	// err is why the directory could not be restored; nil if it was.
	err error
	// said is the time of the last warning.
	said time.Time
}

// keepState checks the state directory until ctx is done.
func (a *Agent) keepState(ctx context.Context) {
	for beside.Sleep(ctx, lookEvery) {
		lost, err := a.state.Mend(a.credentials.key)
		if lost {
			_, _ = ask(ctx, a, func() bool { a.onStateLost(err); return true })
		}
		if _, err := os.Lstat(a.cfg.Socket); errors.Is(err, fs.ErrNotExist) {
			a.serveAgain()
		}
	}
}

// onStateLost writes the records again, or logs why the directory cannot be restored.
func (a *Agent) onStateLost(err error) {
	l := &a.stateLoss
	l.count, l.last, l.err = l.count+1, time.Now(), err
	if err != nil {
		if time.Since(l.said) >= sayAgain {
			l.said = time.Now()
			a.log.Error().Err(err).
				Msg("the state directory cannot be restored; after a restart the hook may run too early")
		}
		return
	}
	a.log.Warn().Str("path", a.state.Path()).
		Msg("the state directory or something in it was deleted while the agent ran; restored it")
	for _, g := range a.gates {
		g.Restored()
	}
	a.memory.lost.Store(true)
	beside.Signal(a.memory.changed)
}

// warning returns the warning for the status, if there is one.
func (l *stateLoss) warning() (control.Warning, bool) {
	text := "the state directory or something in it was deleted while the agent ran, and was restored: " +
		"find out which program deletes it"
	if l.err != nil {
		text = l.err.Error()
	}
	return control.Warning{Text: text, Count: l.count, Last: l.last}, l.count > 0
}

// serveAgain makes the control socket again.
func (a *Agent) serveAgain() {
	a.serving.Lock()
	defer a.serving.Unlock()
	if a.control == nil {
		return
	}
	_ = a.control.Close()
	server, err := a.deps.Serve(a.cfg.Socket, a.cfg.SocketGroup, source{a}, a.log)
	if err != nil {
		return // Its directory is missing, too. The closed server may be closed again.
	}
	a.control = server
}

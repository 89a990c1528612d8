package hook

import (
	"errors"
	"io"
	"sync"
	"time"
)

// Grant is what a caller's command is told of the grant under which it runs.
type Grant struct {
	// Env is added to the caller's environment ("WANDERD_SEQ=7").
	Env []string `json:"env"`
	Limits
}

// ErrLate is returned if a caller did not take its grant in time, because it was stopped or has gone.
var ErrLate = errors.New("its caller did not start it in time")

// Remote is a command that its caller runs under a guard of the caller's own, at the other end of a connection to this
// agent.
type Remote struct {
	conn io.ReadWriter
	// ready is closed when the guard waits for the instruction to start. gone is closed when the other end reports no
	// more; then said is all that it has reported.
	ready, gone chan struct{}
	said        report
}

// NewRemote listens to a caller. It does so until the connection ends or is closed.
func NewRemote(conn io.ReadWriter) *Remote {
	r := &Remote{conn: conn, ready: make(chan struct{}), gone: make(chan struct{})}
	go func() {
		defer close(r.gone)
		var once sync.Once
		r.said = readReport(conn, func(now report) {
			if now.Ready {
				once.Do(func() { close(r.ready) })
			}
		})
	}()
	return r
}

// Gone is closed when the caller has gone, or its command is over.
func (r *Remote) Gone() <-chan struct{} { return r.gone }

// Start grants the command its run. Of the spec it uses Argv, which names the command for people, and Env, which is
// what the grant adds. It waits for the guard to be ready, but no longer than to startBy. After ErrLate the command
// does not start any more, once the connection is closed.
func (r *Remote) Start(spec Spec, startBy time.Time) (*Run, error) {
	spec.command = true
	run := &Run{done: make(chan Result, 1), lifeline: newLifeline(r.conn)}
	over := make(chan struct{})
	run.lifeline.tell(func(next *instruction) { next.Grant = &Grant{Env: spec.Env, Limits: spec.Limits} })
	go run.lifeline.write(over)
	select {
	case <-r.ready:
	case <-r.gone:
		close(over)
		return nil, ErrLate
	case <-time.After(time.Until(startBy)):
		close(over)
		return nil, ErrLate
	}
	started := time.Now()
	if kill, forget, ok := killerOf(spec.Caller); ok {
		run.end.begin(spec.Until)
		go func() {
			defer forget()
			run.end.enforce(r.gone, kill)
		}()
	}
	run.lifeline.tell(func(next *instruction) { next.Go = true })
	go func() {
		<-r.gone
		close(over)
		r.said.GuardDied = !r.said.Over
		run.done <- r.said.result(spec, time.Since(started))
	}()
	return run, nil
}

package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// echo is how long further signals are ignored after the first: timeout(1) sends each signal twice, and when a terminal
// is closed, both kernel and shell send one.
const echo = 500 * time.Millisecond

// Hangups receives the SIGHUPs of an agent, which ask it to read its configuration again. They end any other command.
type Hangups struct {
	taken atomic.Bool
	came  chan struct{}
}

// NewHangups returns the SIGHUPs of a process, which end it until Take is called.
func NewHangups() *Hangups { return &Hangups{came: make(chan struct{}, 1)} }

// Take makes SIGHUP ask for a reload from now on, instead of ending the program.
func (h *Hangups) Take() <-chan struct{} {
	h.taken.Store(true)
	return h.came
}

// takes reports whether a signal is a SIGHUP that asks for a reload, and passes it on. Several SIGHUPs that come before
// the first is handled count as one.
func (h *Hangups) takes(s os.Signal) bool {
	if h == nil || s != syscall.SIGHUP || !h.taken.Load() {
		return false
	}
	select {
	case h.came <- struct{}{}:
	default:
	}
	return true
}

// UntilSignal returns a context that ends with the first SIGINT, SIGTERM or SIGHUP, except the hangups that are taken.
// It does not end with SIGHUP if nohup ignores that, nor with SIGINT if a shell does so for the background. Its cause
// is a [SignalError]. A second signal after [echo] ends the process at once; the guard then stops a running hook. name
// is the program's name, used in the message about that.
func UntilSignal(parent context.Context, name string, hups *Hangups) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	next := func() os.Signal {
		for {
			if s := <-signals; !hups.takes(s) {
				return s
			}
		}
	}
	go func() {
		cancel(SignalError(next()))
		second := SignalError(afterEcho(next))
		fmt.Fprintf(os.Stderr, "%s: %s again: leaving at once\n", name, second)
		os.Exit(ExitCode(second))
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// afterEcho returns the first signal after [echo].
func afterEcho(next func() os.Signal) os.Signal {
	for came := time.Now(); ; {
		if s := next(); time.Since(came) >= echo {
			return s
		}
	}
}

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// echo is how long after the first signal further ones are ignored: timeout(1) sends each signal twice, and when a terminal is
// closed, both kernel and shell send one.
const echo = 500 * time.Millisecond

// hangups are the SIGHUPs of an agent, which ask it to read its configuration again. Of any other command they are the end.
type hangups struct {
	taken atomic.Bool
	came  chan struct{}
}

// take makes SIGHUP ask for a reload from now on, instead of ending the program.
func (h *hangups) take() <-chan struct{} {
	h.taken.Store(true)
	return h.came
}

// takes reports whether a signal is a SIGHUP that asks for a reload, and passes it on. Several that come before the first is handled count as
// one.
func (h *hangups) takes(s os.Signal) bool {
	if h == nil || s != syscall.SIGHUP || !h.taken.Load() {
		return false
	}
	select {
	case h.came <- struct{}{}:
	default:
	}
	return true
}

// untilSignal returns a context that ends with the first SIGINT, SIGTERM or SIGHUP (unless nohup ignores SIGHUP, or a shell SIGINT in the
// background), but for the hangups that somebody takes. Its cause is a [signalError]. A second signal after [echo] ends the process at
// once; the guard then stops a running hook.
func untilSignal(parent context.Context, hups *hangups) (ctx context.Context, stop func()) {
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
		cancel(signalError(next()))
		second := signalError(afterEcho(next))
		fmt.Fprintf(os.Stderr, "wanderd: %s again: leaving at once\n", second)
		os.Exit(exitCode(second))
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

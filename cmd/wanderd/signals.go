package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// signalError is a signal that ended what was going on.
type signalError struct{ signal os.Signal }

func (e signalError) Error() string { return e.signal.String() }

// exitCode returns the code of a program that a signal has ended.
func (e signalError) exitCode() int {
	if s, ok := e.signal.(syscall.Signal); ok {
		return exitSignal + int(s)
	}
	return exitFailure
}

// echo is how soon after the first a second signal says nothing new: timeout(1) sends each twice, and that a terminal is
// closed both the kernel and the shell say.
const echo = 500 * time.Millisecond

// untilSignal returns a context that ends with the first SIGINT, SIGTERM or SIGHUP (unless nohup has seen to it that this one is
// ignored), its cause being a [signalError]. Another one later than [echo] ends the process at once: what runs of a hook then is
// stopped by its guard.
func untilSignal(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		cancel(signalError{<-signals})
		second := signalError{afterEcho(signals)}
		fmt.Fprintf(os.Stderr, "wanderd: %s again: leaving at once\n", second)
		os.Exit(second.exitCode())
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// afterEcho returns the first signal that is none of the echo of one that has just come.
func afterEcho(signals <-chan os.Signal) os.Signal {
	for came := time.Now(); ; {
		if s := <-signals; time.Since(came) >= echo {
			return s
		}
	}
}

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
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

// untilSignal returns a context that ends with the first SIGINT or SIGTERM, its cause being a [signalError]. A second one ends the process at once: what
// runs of a hook then is stopped by its guard.
func untilSignal(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		cancel(signalError{<-signals})
		second := signalError{<-signals}
		fmt.Fprintf(os.Stderr, "wanderd: %s again: leaving at once\n", second)
		os.Exit(second.exitCode())
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

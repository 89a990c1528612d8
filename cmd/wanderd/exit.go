package main

import (
	"errors"
	"io/fs"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/wanderd/settings"
)

// The exit codes. main.go and --help list their meanings.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 64
	exitNoAgent = 69
	exitDefect  = 70
	exitNoPerm  = 77
	exitConfig  = 78
	exitSignal  = 128

	// Those of "wanderd exec", besides the command's own. The first is as in timeout(1), the others as in a shell.
	exitTimeout       = 124
	exitNotExecutable = 126
	exitNotFound      = 127
)

// exitError ends the program with a code. Its err may be nil: then there is nothing to say.
type exitError struct {
	code int
	err  error
}

func (e exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}
func (e exitError) Unwrap() error { return e.err }

// usageError is an invalid command line.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// socketError is a failed request to an agent.
type socketError struct{ err error }

func (e socketError) Error() string { return e.err.Error() }
func (e socketError) Unwrap() error { return e.err }

// exitCode returns the exit code for an error.
func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	if e, ok := errors.AsType[exitError](err); ok {
		return e.code
	}
	if _, ok := errors.AsType[usageError](err); ok {
		return exitUsage
	}
	if e, ok := errors.AsType[signalError](err); ok {
		return e.exitCode()
	}
	if _, ok := errors.AsType[*settings.Invalid](err); ok {
		return exitConfig
	}
	if _, ok := errors.AsType[*agent.CopyError](err); ok {
		return exitConfig
	}
	if _, ok := errors.AsType[socketError](err); ok {
		switch {
		case errors.Is(err, control.ErrNoAgent):
			return exitNoAgent
		case errors.Is(err, fs.ErrPermission):
			return exitNoPerm
		}
	}
	return exitFailure
}

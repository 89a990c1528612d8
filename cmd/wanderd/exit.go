package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/cli/settings"
)

// The exit codes. "wanderd --help" lists their meanings.
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

func usageError(err error) error { return exitError{exitUsage, err} }

func signalError(s os.Signal) error {
	return exitError{exitSignal + int(s.(syscall.Signal)), errors.New(s.String())}
}

// helpful gives the error of a request to an agent its exit code, and the remedy.
func helpful(err error) error {
	_, has := errors.AsType[exitError](err)
	switch {
	case has:
	case errors.Is(err, control.ErrNoAgent):
		err = fmt.Errorf("%w: start one with \"wanderd --hook COMMAND\", or name its socket with --socket", err)
		return exitError{exitNoAgent, err}
	case errors.Is(err, fs.ErrPermission):
		return exitError{exitNoPerm, err}
	}
	return err
}

func exitCode(err error) int {
	if err == nil {
		return exitOK
	}
	if e, ok := errors.AsType[exitError](err); ok {
		return e.code
	}
	_, invalid := errors.AsType[*settings.Invalid](err)
	_, copied := errors.AsType[*agent.CopyError](err)
	if invalid || copied {
		return exitConfig
	}
	return exitFailure
}

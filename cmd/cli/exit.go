package cli

import (
	"errors"
	"os"
	"syscall"

	"github.com/wanderd/wanderd/cmd/cli/settings"
)

// The exit codes of all programs. Their help lists the meanings.
const (
	ExitOK      = 0
	ExitFailure = 1
	ExitUsage   = 64
	ExitDefect  = 70
	ExitConfig  = 78
	ExitSignal  = 128
)

// exitError ends a program with a code. Its err may be nil: then the program prints nothing.
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

// Exit returns an error that ends a program with a code. err may be nil: then the program prints nothing.
func Exit(code int, err error) error { return exitError{code, err} }

// UsageError gives an error the exit code of a wrong command line.
func UsageError(err error) error { return Exit(ExitUsage, err) }

// SignalError returns the error of a program that a signal has ended.
func SignalError(s os.Signal) error {
	return Exit(ExitSignal+int(s.(syscall.Signal)), errors.New(s.String()))
}

// HasExitCode reports whether an error has its exit code already.
func HasExitCode(err error) bool {
	_, has := errors.AsType[exitError](err)
	return has
}

// ExitCode returns the code with which an error ends a program.
func ExitCode(err error) int {
	if err == nil {
		return ExitOK
	}
	if e, ok := errors.AsType[exitError](err); ok {
		return e.code
	}
	if _, invalid := errors.AsType[*settings.Invalid](err); invalid {
		return ExitConfig
	}
	return ExitFailure
}

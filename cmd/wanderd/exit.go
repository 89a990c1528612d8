package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/wanderd/wanderd/agent"
	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/cli"
)

// These exit codes are additional to those of all programs. "wanderd --help" lists their meanings.
const (
	exitNoAgent = 69
	exitNoPerm  = 77

	// These are the exit codes of "wanderd exec", in addition to the command's own. The first is as in timeout(1), the
	// others as in a shell.
	exitTimeout       = 124
	exitNotExecutable = 126
	exitNotFound      = 127
)

// helpful gives the error of a request to an agent its exit code, and the remedy.
func helpful(err error) error {
	switch {
	case cli.HasExitCode(err):
	case errors.Is(err, control.ErrNoAgent):
		err = fmt.Errorf("%w: start one with \"wanderd --hook COMMAND\", or name its socket with --socket", err)
		return cli.Exit(exitNoAgent, err)
	case errors.Is(err, fs.ErrPermission):
		return cli.Exit(exitNoPerm, err)
	}
	return err
}

// exitCode returns the code with which an error ends the program.
func exitCode(err error) int {
	if _, copied := errors.AsType[*agent.CopyError](err); copied {
		return cli.ExitConfig
	}
	return cli.ExitCode(err)
}

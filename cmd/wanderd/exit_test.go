package main

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/wanderd/wanderd/cmd/cli/settings"
)

func TestEveryKindOfErrorHasItsExitCode(t *testing.T) {
	for code, err := range map[int]error{
		exitOK:                            nil,
		exitFailure:                       fmt.Errorf("some"),
		exitUsage:                         usageError(fmt.Errorf("some")),
		exitConfig:                        &settings.Invalid{},
		exitSignal + int(syscall.SIGINT):  fmt.Errorf("%w: 3 of 20 runs are complete", signalError(syscall.SIGINT)),
		exitSignal + int(syscall.SIGTERM): signalError(syscall.SIGTERM),
	} {
		if got := exitCode(err); got != code {
			t.Errorf("%v: %d, want %d", err, got, code)
		}
	}
}

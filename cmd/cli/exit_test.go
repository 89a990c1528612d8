package cli

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/wanderd/wanderd/cmd/cli/settings"
)

func TestEveryKindOfErrorHasItsExitCode(t *testing.T) {
	for code, err := range map[int]error{
		ExitOK:                            nil,
		ExitFailure:                       fmt.Errorf("some"),
		ExitUsage:                         UsageError(fmt.Errorf("some")),
		ExitConfig:                        &settings.Invalid{},
		ExitSignal + int(syscall.SIGINT):  fmt.Errorf("%w: 3 of 20 runs are complete", SignalError(syscall.SIGINT)),
		ExitSignal + int(syscall.SIGTERM): SignalError(syscall.SIGTERM),
	} {
		if got := ExitCode(err); got != code {
			t.Errorf("%v: %d, want %d", err, got, code)
		}
	}
}

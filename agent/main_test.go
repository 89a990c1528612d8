package agent

import (
	"os"
	"syscall"
	"testing"

	"github.com/wanderd/wanderd/agent/hook"
)

// TestMain lets this program guard the hooks of its own agents. A guard leaves by the system call: it is not a test run.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == hook.GuardArg {
		syscall.Exit(hook.Guard(os.Args[2:]))
	}
	os.Exit(m.Run())
}

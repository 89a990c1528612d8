package agent

import (
	"os"
	"syscall"
	"testing"

	"github.com/wanderd/wanderd/agent/hook"
)

// TestMain lets this program be the guard of its own agents' hooks. A guard exits by the system call, because it is not a test run.
func TestMain(m *testing.M) {
	if hook.IsGuard() {
		syscall.Exit(hook.Guard())
	}
	os.Exit(m.Run())
}

package agent

import (
	"os"
	"syscall"
	"testing"

	"github.com/wanderd/wanderd/agent/hook"
)

// TestMain lets this program guard the hooks of its own agents. A guard leaves by the system call: it is not a test run.
func TestMain(m *testing.M) {
	if hook.IsGuard() {
		syscall.Exit(hook.Guard())
	}
	os.Exit(m.Run())
}

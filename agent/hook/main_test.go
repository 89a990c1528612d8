package hook

import (
	"fmt"
	"os"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// TestMain acts as a guard, as the agent of [killAgentOf], or runs the tests; after the tests it checks that none left
// a goroutine, a file descriptor or a child process behind.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == agentArg {
		os.Exit(runAgent(os.Args[2], os.Args[3], os.Args[4:]))
	}
	if r, w, err := os.Pipe(); err == nil { // the first one opens the files of Go's poller, which stay
		_, _ = r.Close(), w.Close()
	}
	before := openFiles()
	code := m.Run()
	if code == 0 {
		code = checkLeftovers(before)
	}
	os.Exit(code)
}

func checkLeftovers(filesBefore int) int {
	if err := goleak.Find(); err != nil {
		fmt.Println("goroutines left:", err)
		return 1
	}
	if now := openFiles(); now > filesBefore {
		fmt.Printf("%d files open, %d before the tests\n", now, filesBefore)
		return 1
	}
	if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		fmt.Println("a child process is left:", pid, err)
		return 1
	}
	return 0
}

// openFiles counts the open file descriptors, on systems that report them.
func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

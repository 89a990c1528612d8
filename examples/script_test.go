// Package examples_test runs the examples: the hooks alone, and each example as in its README.
package examples_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait of a test.
const patience = time.Minute

// command is a script in its own process group, whose environment is PATH, TMPDIR and env only. When ctx is done, the
// whole group gets a signal to stop.
func command(ctx context.Context, t *testing.T, env []string, argv ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = patience
	return cmd
}

// script runs a script to its end and returns its output.
func script(t *testing.T, env []string, argv ...string) (output string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := command(ctx, t, env, argv...).CombinedOutput()
	return string(out), err
}

// mustRun is script for a script that must succeed.
func mustRun(t *testing.T, env []string, argv ...string) string {
	t.Helper()
	output, err := script(t, env, argv...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(argv, " "), err, output)
	}
	return output
}

// pathOf returns a PATH with the named programs only.
func pathOf(t *testing.T, programs ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, program := range programs {
		at, err := exec.LookPath(program)
		if err != nil {
			t.Skipf("no %s here", program)
		}
		if err := os.Symlink(at, filepath.Join(dir, program)); err != nil {
			t.Fatal(err)
		}
	}
	return "PATH=" + dir
}

// build builds a command of this module and returns its path.
func build(t *testing.T, pkg string) string {
	t.Helper()
	at := filepath.Join(t.TempDir(), filepath.Base(pkg))
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", at, pkg).CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	return at
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wantContent(t *testing.T, name, want string) {
	t.Helper()
	if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, []byte(want)) {
		t.Errorf("%s holds %.40q, error %v, want %q", name, got, err, want)
	}
}

func wantEmpty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("%s: left behind %v, error %v", dir, left, err)
	}
}

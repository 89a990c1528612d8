package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// guardOf runs a command by a certain program of wanderd, and returns the program of the command's guard.
func (n *node) guardOf(wanderd string) string {
	n.fleet.t.Helper()
	out, complaints, code := call(n.fleet.t.(*testing.T), wanderd, "exec", "--state-dir", n.state, "--", "sh", "-c",
		"readlink /proc/$PPID/exe")
	if code != 0 {
		n.fleet.t.Fatalf("exit code %d: %s", code, complaints)
	}
	return strings.TrimSpace(out)
}

// place makes a program available at another path below dir.
func place(t *testing.T, program, dir, path string) string {
	t.Helper()
	path = filepath.Join(dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(program, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// The guard of another build might not understand its orders: then, and where there is none, wanderd guards itself.
func TestTheGuardIsTheProgramOfTheSameBuild(t *testing.T) {
	t.Parallel()
	n := alone(t)
	built := program(t)
	guard := filepath.Join(filepath.Dir(built), "hook-guard")
	if got := n.guardOf(built); got != guard {
		t.Errorf("the guard is %s, want the one beside wanderd, %s", got, guard)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	wanderd := place(t, built, dir, "bin/wanderd")
	if got := n.guardOf(wanderd); got != wanderd {
		t.Errorf("without a program for it, the guard is %s", got)
	}
	installed := place(t, guard, dir, "libexec/wanderd/hook-guard")
	if got := n.guardOf(wanderd); got != installed {
		t.Errorf("the guard is %s, want %s, where packages install it", got, installed)
	}
	other := filepath.Join(dir, "bin/hook-guard")
	if err := os.WriteFile(other, []byte("#!/bin/sh\nexec sleep 1000\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := n.guardOf(wanderd); got != installed {
		t.Errorf("the guard is %s, although only %s is of this build", got, installed)
	}
}

// The guard starts while the rest of wanderd is initialised, which takes more than a millisecond. It would not if
// package early imported more: for instance fmt.
func TestTheGuardStartsBeforeTheRestOfTheProgramIsInitialised(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), program(t), "exec", "--help")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	early := strings.Index(string(out), "init github.com/wanderd/wanderd/agent/hook/early ")
	// No guard is built from these. The guard writes its own lines meanwhile, and may be in the middle of one of them.
	var rest []int
	for _, name := range []string{
		"crypto/internal/fips140", "crypto/internal/fips140/check", "crypto/x509", "crypto/tls", "text/template",
		"github.com/miekg/dns", "github.com/spf13/cobra", "github.com/wanderd/wanderd/cmd/cli",
	} {
		if at := strings.Index(string(out), "init "+name+" "); at >= 0 {
			rest = append(rest, at)
		}
	}
	if early < 0 || len(rest) < 3 || slices.Min(rest) < early {
		t.Errorf("it starts at %d, and the rest at %d:\n%s", early, rest, out)
	}
}

package examples_test

import (
	"errors"
	"os"
	"os/exec"
	"testing"
)

// The output of apt-get decides: something to install is a yes, nothing to install is "not needed now", and its failure
// is an error.
func TestUpgradesWaitSaysWhetherThereIsSomethingToInstall(t *testing.T) {
	t.Parallel()
	for says, want := range map[string]int{
		"echo 'Inst bash [5.1] (5.2)'; echo 'Conf bash (5.2)'": 0,
		"echo '0 upgraded, 0 newly installed'":                 75,
		"echo 'E: lists are broken' >&2; exit 100":             100,
	} {
		dir := t.TempDir()
		if err := os.WriteFile(dir+"/apt-get", []byte("#!/bin/sh\n"+says+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		out, err := script(t, []string{"PATH=" + dir + ":" + os.Getenv("PATH")}, "upgrade/upgrades-wait.sh")
		status := 0
		if exit, failed := errors.AsType[*exec.ExitError](err); failed {
			status = exit.ExitCode()
		} else if err != nil {
			t.Fatal(err)
		}
		if status != want {
			t.Errorf("apt-get does %q: %d, want %d\n%s", says, status, want, out)
		}
	}
}

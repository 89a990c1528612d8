package examples_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A host needs a reboot if its packages say so, by a file or by needs-restarting; otherwise not now.
func TestNeedsRebootAsksThePackages(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		file    string
		command string
		kernel  string // what needrestart says of it
		want    int
	}{
		"nothing says so":                   {want: 75},
		"a file says so":                    {file: "run/reboot-required", want: 0},
		"needs-restarting says so":          {command: "exit 1", want: 0},
		"needs-restarting says it need not": {command: "exit 0", want: 75},
		"the kernel is the newest":          {kernel: "1", want: 75},
		"the kernel is not known":           {kernel: "0", want: 75},
		"the kernel is an older build":      {kernel: "2", want: 0},
		"the kernel is an older version":    {kernel: "3", want: 0},
		"a file, and the newest kernel":     {file: "run/reboot-required", kernel: "1", want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			if tc.file != "" {
				file := filepath.Join(root, tc.file)
				if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			if tc.command != "" {
				text := "#!/bin/sh\n" + tc.command + "\n"
				if err := os.WriteFile(root+"/needs-restarting", []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if tc.kernel != "" {
				text := "#!/bin/sh\n[ \"$*\" = \"-b -k\" ] && echo \"NEEDRESTART-KSTA: " + tc.kernel + "\"\n"
				if err := os.WriteFile(root+"/needrestart", []byte(text), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			out, err := script(t, []string{"ROOT=" + root, "PATH=" + root + ":" + os.Getenv("PATH")},
				"reboot/needs-reboot.sh")
			status := 0
			if exit, failed := errors.AsType[*exec.ExitError](err); failed {
				status = exit.ExitCode()
			} else if err != nil {
				t.Fatal(err)
			}
			if status != tc.want {
				t.Errorf("%d, want %d\n%s", status, tc.want, out)
			}
		})
	}
}

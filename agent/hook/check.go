package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/wanderd/wanderd/agent/safepath"
)

// Check returns why argv cannot be run, and what to do about it. It finds mistakes of an operator before the token
// arrives and it is too late: no such file, no permission, a script without an interpreter. Unless trusted is true, it
// refuses a program that other users of this host can replace. It does not look at the arguments: of "sh ./sync.sh" the
// program is sh.
func Check(argv []string, trusted bool) error {
	file, err := locate(argv)
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist: check the path (relative paths start at the agent's working directory)",
			file)
	case err != nil:
		return fmt.Errorf("cannot look at it: %w", err)
	case info.IsDir():
		return fmt.Errorf("%s is a directory: name a program in it", file)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file (%s): name a program", file, info.Mode().Type())
	case info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%s is not executable: chmod +x %s", file, file)
	case info.Size() == 0:
		return fmt.Errorf("%s is empty: write the operation into it", file)
	}
	if !trusted {
		if err := safepath.Check(file); err != nil {
			return fmt.Errorf("the hook would run as user %d, but others can replace it: %w; or set --trust-hook",
				os.Geteuid(), err)
		}
	}
	if err := unix.Faccessat(unix.AT_FDCWD, file, unix.X_OK, unix.AT_EACCESS); err != nil {
		return fmt.Errorf("%s may not be executed by user %d, or its file system is mounted noexec: "+
			"change its owner or mode, or move it: %w", file, os.Geteuid(), err)
	}
	return checkInterpreter(file)
}

// checkInterpreter checks how a script starts. It accepts what it cannot read or does not know.
func checkInterpreter(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return nil //nolint:nilerr // a program may be executable and not readable
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, 256) // Linux reads this much of a #! line
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("hook: %w", err)
	}
	head = head[:n]
	line, isScript := bytes.CutPrefix(head, []byte("#!"))
	if !isScript {
		if bytes.IndexByte(head, 0) < 0 {
			return fmt.Errorf("%s is a script without an interpreter: put #!/bin/sh into its first line", file)
		}
		return nil
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	if bytes.HasSuffix(line, []byte("\r")) {
		return fmt.Errorf("%s has the line ends of Windows: convert it with sed -i 's/\\r$//' %s", file, file)
	}
	words := strings.Fields(string(line))
	if len(words) == 0 {
		return fmt.Errorf("%s names no interpreter after #!: put #!/bin/sh into its first line", file)
	}
	if _, err := os.Stat(words[0]); err != nil {
		return fmt.Errorf("%s needs the interpreter %s, which does not exist: install it, or correct the first line",
			file, words[0])
	}
	if path.Base(words[0]) == "env" && len(words) == 2 {
		if _, err := exec.LookPath(words[1]); err != nil {
			return fmt.Errorf("%s wants the interpreter %s, which is not in PATH: install it or correct the first line",
				file, words[1])
		}
	}
	return nil
}

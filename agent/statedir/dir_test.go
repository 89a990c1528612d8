package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func open(t testing.TB, path string) *Dir {
	t.Helper()
	d, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// says checks that an error contains all of want.
func says(t *testing.T, err error, wants ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one that says %q", wants)
		return
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestOnlyTheOwnerCanAccessTheDirectoryAndItsFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "state")
	d := open(t, path)
	if _, _, err := d.NodeKey(); err != nil {
		t.Fatal(err)
	}
	if err := d.Save("default", Record{Seq: 1}); err != nil {
		t.Fatal(err)
	}
	if got := mode(t, path); got != 0o700 {
		t.Errorf("directory: %04o", got)
	}
	entries, err := os.ReadDir(path)
	if err != nil || len(entries) != 3 {
		t.Errorf("%v, %v", entries, err)
	}
	for _, entry := range entries {
		if got := mode(t, filepath.Join(path, entry.Name())); got != 0o600 {
			t.Errorf("%s: %04o", entry.Name(), got)
		}
	}
}

func TestADirectoryHasOneAgentAtATime(t *testing.T) {
	path := t.TempDir()
	first := open(t, path)
	_, err := Open(path)
	says(t, err, path, "another wanderd", "process "+strconv.Itoa(os.Getpid()), "stop that one", "--state-dir")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path)
}

func TestADirectoryThatOthersCanWriteIsRefused(t *testing.T) {
	for _, bad := range []os.FileMode{0o770, 0o702, 0o777} {
		path := t.TempDir()
		if err := os.Chmod(path, bad); err != nil {
			t.Fatal(err)
		}
		_, err := Open(path)
		says(t, err, path, "chmod go-w "+path)
	}
	path := t.TempDir()
	if err := os.Chmod(path, 0o755); err != nil {
		t.Fatal(err)
	}
	open(t, path)
}

func TestADirectoryOfAnotherUserIsRefused(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
	path := t.TempDir()
	if err := os.Chown(path, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path)
	says(t, err, path, "65534", "run this as that user")
}

func TestAnInvalidPathIsNamed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(filepath.Join(file, "state"))
	says(t, err, file, "--state-dir")
	_, err = Open(file)
	says(t, err, file, "--state-dir")
}

func TestUnfinishedFilesAreRemovedAtTheNextStart(t *testing.T) {
	path := t.TempDir()
	unfinished := filepath.Join(path, "gate-default.json"+tmpSuffix)
	kept := filepath.Join(path, "tmp")
	for _, file := range []string{unfinished, kept} {
		if err := os.WriteFile(file, []byte(`{"vers`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open(t, path)
	if _, err := os.Stat(unfinished); !os.IsNotExist(err) {
		t.Error("still there:", err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}

func TestAPipeOrAnEndlessFileInTheDirectoryIsRefusedAtOnce(t *testing.T) {
	d := open(t, t.TempDir())
	refused := func(how string) {
		_, _, noRecord := d.Load("g")
		_, noRoster := d.LoadRoster("g")
		_, _, noMembers := d.LoadMembers()
		_, noHome := d.Moved()
		for name, err := range map[string]error{
			"gate-g.json": noRecord, "roster-g.json": noRoster, "members.json": noMembers, "home": noHome,
		} {
			says(t, err, filepath.Join(d.path, name), how, "remove it")
		}
	}
	names := []string{"gate-g.json", "roster-g.json", "members.json", "home"}
	for _, name := range names {
		if err := syscall.Mkfifo(filepath.Join(d.path, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refused("not a regular file")
	for _, name := range names {
		path := filepath.Join(d.path, name)
		if err := errors.Join(os.Remove(path), os.WriteFile(path, nil, 0o600), os.Truncate(path, 1<<40)); err != nil {
			t.Fatal(err)
		}
	}
	refused("too long")
}

func TestALockThatIsALinkIsNotFollowed(t *testing.T) {
	path := t.TempDir()
	target := filepath.Join(t.TempDir(), "precious")
	if err := os.WriteFile(target, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(path, lockName)); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path)
	says(t, err, filepath.Join(path, lockName), "symbolic link", "remove")
	if text, err := os.ReadFile(target); err != nil || string(text) != "precious" {
		t.Errorf("%q, %v", text, err)
	}
}

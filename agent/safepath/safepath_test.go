package safepath

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// tree makes a directory with a file of mode 0700 in it, and returns both.
func tree(t *testing.T) (dir, file string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, at string) string {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Fatal(err)
	}
	return at
}

// refuses checks that a path is refused with a message that contains all of wants.
func refuses(t *testing.T, err error, wants ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("accepted; want an error that says %q", wants)
		return
	}
	for _, want := range wants {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}

func TestAFileThatOnlyItsOwnerCanReplaceIsAccepted(t *testing.T) {
	dir, file := tree(t)
	for _, mode := range []os.FileMode{0o400, 0o700, 0o755} {
		chmod(t, file, mode)
		if err := Check(file); err != nil {
			t.Error(err)
		}
	}
	t.Chdir(dir)
	for _, path := range []string{"file", "./file", "../dir/file"} {
		if err := Check(path); err != nil {
			t.Error(err)
		}
	}
}

func TestAFileThatOthersCanWriteIsRefused(t *testing.T) {
	_, file := tree(t)
	for _, mode := range []os.FileMode{0o720, 0o702, 0o777} {
		chmod(t, file, mode)
		refuses(t, Check(file), "chmod go-w "+file)
	}
}

func TestAFileInADirectoryThatOthersCanWriteIsRefused(t *testing.T) {
	dir, file := tree(t)
	for _, mode := range []os.FileMode{0o720, 0o702, 0o777} {
		chmod(t, dir, mode)
		refuses(t, Check(file), "chmod go-w "+dir)
	}
	chmod(t, dir, 0o777|os.ModeSticky)
	if err := Check(file); err != nil {
		t.Error("in a sticky directory nobody else can replace the file:", err)
	}
}

func TestEveryDirectoryBehindALinkIsChecked(t *testing.T) {
	dir, file := tree(t)
	for _, path := range []string{
		link(t, file, filepath.Join(t.TempDir(), "absolute")),
		link(t, filepath.Base(file), filepath.Join(dir, "relative")),
		filepath.Join(link(t, dir, filepath.Join(t.TempDir(), "through")), "file"),
	} {
		if err := Check(path); err != nil {
			t.Error(err)
		}
		chmod(t, dir, 0o777)
		refuses(t, Check(path), "chmod go-w "+dir)
		chmod(t, dir, 0o700)
	}
}

func TestTheParentOfALinkedDirectoryIsNotThatOfTheLink(t *testing.T) {
	dir, _ := tree(t)
	bad := filepath.Join(dir, "bad")
	if err := os.MkdirAll(filepath.Join(bad, "inner"), 0o700); err != nil {
		t.Fatal(err)
	}
	chmod(t, bad, 0o777)
	through := link(t, filepath.Join(bad, "inner"), filepath.Join(t.TempDir(), "through"))
	refuses(t, Check(through+"/../inner"), "chmod go-w "+bad)
}

func TestLinksThatGoRoundAreRefused(t *testing.T) {
	at := filepath.Join(t.TempDir(), "round")
	refuses(t, Check(link(t, at, at)), "too many levels")
}

func TestAFileOfAnotherUserIsRefused(t *testing.T) {
	_, file := tree(t)
	const other = 4242
	if os.Geteuid() != 0 {
		// Nobody but root gives a file away; for another user, this one's files are another user's.
		refuses(t, check(file, other), "belongs to user", "chown")
		return
	}
	if err := os.Lchown(file, other, -1); err != nil {
		t.Fatal(err)
	}
	refuses(t, Check(file), file+" belongs to user 4242, and this is user 0", "chown 0 "+file)
	if err := check(file, other); err != nil {
		t.Error("the owner's own file:", err)
	}
	dir, file := tree(t)
	if err := os.Lchown(dir, other, -1); err != nil {
		t.Fatal(err)
	}
	refuses(t, Check(file), dir+" belongs to user 4242")
	_, file = tree(t)
	foreign := link(t, file, filepath.Join(t.TempDir(), "link"))
	if err := os.Lchown(foreign, other, -1); err != nil {
		t.Fatal(err)
	}
	refuses(t, Check(foreign), foreign+" belongs to user 4242")
}

func TestAMissingFileIsAnError(t *testing.T) {
	dir, _ := tree(t)
	refuses(t, Check(filepath.Join(dir, "missing")), "missing")
}

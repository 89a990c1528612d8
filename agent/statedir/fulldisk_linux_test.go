package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wanderd/wanderd/wire"
)

// smallDisk mounts a file system of 64 KiB.
func smallDisk(t *testing.T) string {
	t.Helper()
	path := t.TempDir()
	if err := unix.Mount("tmpfs", path, "tmpfs", 0, "size=64k,mode=0700"); err != nil {
		t.Skip("needs root: ", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(path, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return path
}

// fill fills the disk and returns a function that frees some space.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	path := filepath.Join(dir, "ballast")
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}

func TestAFullDiskKeepsTheOldRecordAndNamesTheRemedy(t *testing.T) {
	d := open(t, smallDisk(t))
	if err := d.Save("default", Record{Seq: 1}); err != nil {
		t.Fatal(err)
	}
	free := fill(t, d.Path())
	for range 2 {
		err := d.Save("default", Record{Seq: 2})
		says(t, err, "default", "no space left", "free some space", d.Path())
		if r, found, err := d.Load("default"); !found || err != nil || r.Seq != 1 {
			t.Errorf("%+v, %v, %v", r, found, err)
		}
	}
	free()
	if err := d.Save("default", Record{Seq: 2}); err != nil {
		t.Error(err)
	}
	if r, _, err := d.Load("default"); err != nil || r.Seq != wire.Seq(2) {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestAFullDiskLeavesNoHalfKey(t *testing.T) {
	d := open(t, smallDisk(t))
	free := fill(t, d.Path())
	_, _, err := d.NodeKey()
	says(t, err, "node key", "no space left", "free some space")
	says(t, WriteNewSecretFile(filepath.Join(d.Path(), "secret")), "no space left")
	free()
	if _, created, err := d.NodeKey(); err != nil || !created {
		t.Errorf("%v, %v", created, err)
	}
	if err := WriteNewSecretFile(filepath.Join(d.Path(), "secret")); err != nil {
		t.Error(err)
	}
}

func TestAReadOnlyFileSystemNamesTheRemedy(t *testing.T) {
	path := smallDisk(t)
	if err := unix.Mount("", path, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	_, err := Open(path)
	says(t, err, path, "read-only", "for writing", "--state-dir")
}

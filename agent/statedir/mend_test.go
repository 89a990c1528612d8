package statedir

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMissingFilesAreRestored(t *testing.T) {
	for name, lose := range map[string]func(dir string) error{
		"the directory": os.RemoveAll,
		"the key":       func(dir string) error { return os.Remove(filepath.Join(dir, nodeKeyName)) },
		"the lock":      func(dir string) error { return os.Remove(filepath.Join(dir, lockName)) },
		"the directory, which another one replaces": func(dir string) error {
			if err := os.Rename(dir, dir+".old"); err != nil {
				return err
			}
			return os.Mkdir(dir, 0o700)
		},
	} {
		dir := filepath.Join(t.TempDir(), "state")
		d := open(t, dir)
		key, _, err := d.NodeKey()
		if err != nil {
			t.Fatal(err)
		}
		if lost, err := d.Mend(key); lost || err != nil {
			t.Errorf("nothing was lost: %v, %v", lost, err)
		}
		if err := lose(dir); err != nil {
			t.Fatal(err)
		}
		if lost, err := d.Mend(key); !lost || err != nil {
			t.Errorf("%s: %v, %v", name, lost, err)
		}
		if lost, err := d.Mend(key); lost || err != nil {
			t.Errorf("%s, after it was mended: %v, %v", name, lost, err)
		}
		if err := d.Save("default", sample()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if again, created, err := d.NodeKey(); created || err != nil || !again.Equal(key) {
			t.Errorf("%s: the key is another one: %v, %v", name, created, err)
		}
		if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "in use") {
			t.Errorf("%s: a second agent could have the directory: %v", name, err)
		}
	}
}

func TestAClosedDirectoryIsNotOpenedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	d := open(t, dir)
	key, _, err := d.NodeKey()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if lost, err := d.Mend(key); lost || err != nil {
		t.Errorf("%v, %v", lost, err)
	}
	next, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	_ = next.Close()
}

func TestAnotherKeyIsNotOverwritten(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	d := open(t, dir)
	key, _, err := d.NodeKey()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, nodeKeyName)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := WriteNewNodeKey(path); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if lost, err := d.Mend(key); !lost || err == nil || !strings.Contains(err.Error(), "restart the agent") {
			t.Errorf("%v, %v", lost, err)
		}
	}
}

func TestAFailedRepairIsReported(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "in", "state")
	d := open(t, dir)
	key, _, err := d.NodeKey()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(parent, "in")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(parent, "in"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if lost, err := d.Mend(key); !lost || err == nil || !strings.Contains(err.Error(), "--state-dir") {
			t.Errorf("%v, %v", lost, err)
		}
	}
}

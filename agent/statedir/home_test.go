package statedir

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func movedTo(t *testing.T, dir string) string {
	t.Helper()
	d := open(t, dir)
	warning, err := d.Moved()
	if err := errors.Join(err, d.Close()); err != nil {
		t.Fatal(err)
	}
	return warning
}

func TestACopyKnowsThatItWasMadeElsewhere(t *testing.T) {
	parent := t.TempDir()
	original, duplicate := filepath.Join(parent, "original"), filepath.Join(parent, "copy")
	for range 2 {
		if warning := movedTo(t, original); warning != "" {
			t.Errorf("the original: %q", warning)
		}
	}
	if err := os.CopyFS(duplicate, os.DirFS(original)); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(duplicate, 0o700); err != nil {
		t.Fatal(err)
	}
	warning := movedTo(t, duplicate)
	if !strings.Contains(warning, original) || !strings.Contains(warning, filepath.Join(duplicate, homeName)) {
		t.Errorf("the copy: %q", warning)
	}
	// This is the remedy for a directory that was moved.
	if err := os.Remove(filepath.Join(duplicate, homeName)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if warning := movedTo(t, duplicate); warning != "" {
			t.Errorf("after the remedy: %q", warning)
		}
	}
}

func TestAnotherHostIsAnotherHome(t *testing.T) {
	d := open(t, t.TempDir())
	ids := filepath.Join(t.TempDir(), "machine-id")
	if err := os.WriteFile(ids, []byte("1234\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	named, err := d.here([]string{"/none", ids})
	if err != nil || named.Machine == "" || strings.Contains(named.Machine, "1234") {
		t.Errorf("%+v, %v", named, err)
	}
	nameless, err := d.here(nil)
	if err != nil || nameless.Machine != "" || nameless.Path != named.Path {
		t.Errorf("%+v, %v", nameless, err)
	}
}

func TestADamagedHomeDoesNotPreventTheStart(t *testing.T) {
	d := open(t, t.TempDir())
	if err := os.WriteFile(filepath.Join(d.Path(), homeName), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if warning, err := d.Moved(); warning != "" || err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("%q, %v", warning, err)
	}
}

package smallfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestOnlyARegularFileOfBoundedLengthIsRead(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, text := range map[string]string{"empty": "", "full": "12345678", "long": "123456789"} {
		if err := os.WriteFile(path(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(path("pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"empty": nil, "full": nil, "long": ErrTooLong, "pipe": ErrWrongKind, "": ErrWrongKind,
		"missing": fs.ErrNotExist,
	} {
		text, err := Read(path(name), 8)
		of, isPath := errors.AsType[*fs.PathError](err)
		if !errors.Is(err, want) ||
			err != nil && (!isPath || strings.TrimSuffix(of.Path, "/") != strings.TrimSuffix(path(name), "/") ||
				text != nil) {
			t.Errorf("%q: %q, %v; want %v", name, text, err, want)
		}
	}
	if _, err := Read("/dev/zero", 8); !errors.Is(err, ErrWrongKind) {
		t.Error(err)
	}
}

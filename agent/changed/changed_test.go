package changed

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A file is read once, and again when it has changed in any way. A file that changed a moment ago is read until it has
// settled.
func TestAFileThatHasChangedIsReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	old := time.Now().Add(-time.Hour)
	write := func(text string, modified time.Time) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, modified, modified); err != nil {
			t.Fatal(err)
		}
	}
	f := File{Path: path}
	look := func(what string, want bool) {
		t.Helper()
		if got := f.Look(); got != want {
			t.Errorf("%s: to be read %v, want %v", what, got, want)
		}
	}
	look("at first", true)
	look("still not there", false)
	write("one", old)
	look("it came", true)
	look("as before", false)
	write("two", old.Add(time.Second))
	look("written again", true)
	write("three", old.Add(time.Second))
	look("another length", true)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	look("another mode", true)
	look("as before", false)
	f.Forget()
	look("it could not be read", true)
	look("as before", false)
	write("four", time.Now())
	look("written now", true)
	look("it may have been written again in the same moment", true)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	look("it went", true)
	look("still not there", false)
}

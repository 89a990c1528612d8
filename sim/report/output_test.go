package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func alone(t *testing.T, folder string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, e := range entries {
		found = append(found, e.Name())
	}
	if strings.Join(found, " ") != strings.Join(names, " ") {
		t.Errorf("there are %q, want %q", found, names)
	}
}

func write(t *testing.T, path, text string) *Output {
	t.Helper()
	o, err := Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestAFileIsThereCompleteOrNotAtAll(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "out.svg")
	o := write(t, path, "new")
	if _, err := os.Stat(path); err == nil {
		t.Error("it is there before it is complete")
	}
	if err := o.Commit(); err != nil || content(t, path) != "new" {
		t.Errorf("%v, %q", err, content(t, path))
	}
	o.Discard()
	alone(t, folder, "out.svg")

	write(t, path, "worse").Discard()
	if content(t, path) != "new" {
		t.Error("a file that was not completed has taken the place of another")
	}
	alone(t, folder, "out.svg")

	if err := write(t, path, "better").Commit(); err != nil || content(t, path) != "better" {
		t.Errorf("%v, %q", err, content(t, path))
	}
	alone(t, folder, "out.svg")
}

func TestALinkStaysALink(t *testing.T) {
	folder := t.TempDir()
	old, link := filepath.Join(folder, "real.svg"), filepath.Join(folder, "link.svg")
	if err := os.WriteFile(old, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(old, link); err != nil {
		t.Fatal(err)
	}
	if err := write(t, link, "new").Commit(); err != nil || content(t, old) != "new" {
		t.Errorf("%v, %q", err, content(t, old))
	}
	alone(t, folder, "link.svg", "real.svg")
}

func TestADeviceIsWrittenToAndNotReplaced(t *testing.T) {
	if err := write(t, os.DevNull, "gone").Commit(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("%v, %v", info, err)
	}
}

func TestAnUnwritableOutputIsReportedBeforeTheWork(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o444); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"":                                     "name one",
		folder:                                 "name a file in it",
		filepath.Join(folder, "no", "out.svg"): "mkdir -p " + filepath.Join(folder, "no"),
		filepath.Join(file, "out.svg"):         "is not a folder",
		file:                                   "change their permissions",
		filepath.Join(folder, strings.Repeat("x", 300)): "name another file",
	} {
		o, err := Create(path)
		if err == nil {
			o.Discard()
			t.Errorf("%s can be written", path)
			continue
		}
		if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %q does not say %q", path, err, want)
		}
	}
	alone(t, folder, "file")
}

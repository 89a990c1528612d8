package wanderd_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxLines is the greatest number of lines of a file. A longer file has more than one concept.
const maxLines = 500

// maxFiles is the greatest number of files of a package, not counting tests.
const maxFiles = 30

// larger returns the files that are longer, and the packages that have more files, with the most that they may have.
// The list may only shrink.
func larger() map[string]int {
	return map[string]int{
		"agent/hook/hook_test.go":            543,
		"cmd/wanderd/e2e/exec_test.go":       605,
		"policy/directive/directive_test.go": 554,
		"policy/guardian/question_test.go":   533,
		"policy/handoff/handoff_test.go":     545,
		"policy/wander/guardians_test.go":    617,
		"policy/wander/inquire_test.go":      611,
	}
}

// writtenByCommand is a text on the pages that a command writes. These are as long as there are results.
const writtenByCommand = "nothing on it is typed by hand"

func TestFilesAreShortAndFinished(t *testing.T) {
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if name == ".git" || name == "bin" {
				return fs.SkipDir
			}
			if fault := folderFault(name); fault != "" {
				t.Errorf("%s: %s", name, fault)
			}
			return nil
		case !slices.Contains([]string{".go", ".sh", ".md", ".toml", ".yml", ".service"}, filepath.Ext(name)):
			return nil
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, fault := range fileFaults(string(content), max(maxLines, larger()[name])) {
			t.Errorf("%s: %s", name, fault)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPackagesHaveFewFiles(t *testing.T) {
	for _, p := range list(t, "./...") {
		if n, most := len(p.GoFiles), max(maxFiles, larger()[p.local()]); n > most {
			t.Errorf("%s has %d files, and %d are allowed: it is more than one room", p.local(), n, most)
		}
	}
}

// A change that makes a listed file shorter, or a listed package smaller, makes the list smaller, too.
func TestTheListOfLargerFilesOnlyShrinks(t *testing.T) {
	files := map[string]int{}
	for _, p := range list(t, "./...") {
		files[p.local()] = len(p.GoFiles)
	}
	for name, most := range larger() {
		now, usual := files[name], maxFiles
		if path.Ext(name) != "" {
			usual = maxLines
			if text, err := os.ReadFile(name); err == nil {
				now = bytes.Count(text, []byte("\n"))
			}
		}
		if now <= usual {
			t.Errorf("%s has %d, and may be taken from the list of what is larger", name, now)
		} else if now < most {
			t.Errorf("%s has %d, and the list says %d", name, now, most)
		}
	}
}

func TestFileRulesCatchAPlantedFault(t *testing.T) {
	for _, name := range []string{"agent/util", "internal/common", "helpers"} {
		if folderFault(name) == "" {
			t.Errorf("a folder %s was not noticed", name)
		}
	}
	if fault := folderFault("agent/hook"); fault != "" {
		t.Errorf("agent/hook: %s", fault)
	}
	for content, faults := range map[string]int{
		"// TO" + "DO: later":                                   1,
		"// FIX" + "ME":                                         1,
		strings.Repeat("\n", maxLines):                          0,
		strings.Repeat("\n", maxLines) + "x":                    1,
		writtenByCommand + strings.Repeat("\n", maxLines) + "x": 0,
	} {
		if got := fileFaults(content, maxLines); len(got) != faults {
			t.Errorf("%.20q…: found %q, want %d faults", content, got, faults)
		}
	}
}

// folderFault returns what is wrong with the name of a folder.
func folderFault(name string) string {
	if slices.Contains([]string{"util", "utils", "common", "helper", "helpers", "misc"}, path.Base(name)) {
		return "a package is named for what it is about"
	}
	return ""
}

// fileFaults returns what is wrong with a file.
func fileFaults(content string, most int) []string {
	var faults []string
	for _, mark := range []string{"TO" + "DO", "FIX" + "ME"} {
		if strings.Contains(content, mark) {
			faults = append(faults, "left for later: "+mark)
		}
	}
	if lines := strings.Count(strings.TrimSuffix(content, "\n"), "\n") + 1; lines > most &&
		!strings.Contains(content, writtenByCommand) {
		faults = append(faults, fmt.Sprintf("%d lines are more than one concept", lines))
	}
	return faults
}

// Nothing built is kept: a program that "go build" has left in the tree is easily added with the rest.
func TestNothingBuiltIsKept(t *testing.T) {
	list, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		t.Skipf("this is no clone: %v", err)
	}
	for name := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		if info, err := os.Stat(name); err == nil && info.Size() > 1<<20 {
			t.Errorf("%s has %d bytes", name, info.Size())
		}
	}
}

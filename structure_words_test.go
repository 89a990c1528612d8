package wanderd_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// retiredWords are our own words that were replaced by a word of this field. The right side is the word in use.
func retiredWords() map[string]string {
	return map[string]string{
		"lobby": "pre-auth limit", "guest": "connection, member", "sieve": "packet filter",
		"teller":   "writer, log limiter",
		"unseated": "not configured", "gathering": "agreeing", "inquest": "loss experiment",
		"muster":  "choose guardians",
		"hearsay": "sighting", "burial": "tombstone", "kindbeat": "KindHeartbeat",
	}
}

// wordFaults returns the retired words that a Go file has, in names, comments and texts.
func wordFaults(content string) []string {
	var faults []string
	for retired, word := range retiredWords() {
		for line := range strings.SplitSeq(content, "\n") {
			if strings.Contains(strings.ToLower(line), retired) && !strings.Contains(line, keptText) {
				faults = append(faults, fmt.Sprintf("%q is retired: say %s (%s)", retired, word,
					strings.TrimSpace(line)))
			}
		}
	}
	slices.Sort(faults)
	return faults
}

// keptText is a part of a line whose text operators may parse; that text keeps its word.
const keptText = `const Agreeing = "gathering"`

func TestRetiredWordsStayAway(t *testing.T) {
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == ".git" || name == "bin"):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(name) != ".go" || name == "structure_words_test.go":
			return nil
		}
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, fault := range wordFaults(string(content)) {
			t.Errorf("%s: %s", name, fault)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestRetiredWordsAreCaught(t *testing.T) {
	for content, faults := range map[string]int{
		"type guestInHall struct{}": 1, "// Hearsay counts less.": 1, "func (m *Machine) remuster() {}": 1,
		"// a connection waits": 0, "\t" + keptText: 0, "lobby, sending lobby\n// the sieve": 2,
	} {
		if got := wordFaults(content); len(got) != faults {
			t.Errorf("%q: found %q, want %d faults", content, got, faults)
		}
	}
}

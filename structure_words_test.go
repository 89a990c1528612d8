package wanderd_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// retiredWords are our own words that were replaced by a word of this field. The right side is the word in use.
func retiredWords() map[string]string {
	return map[string]string{
		"lobby": "pre-auth limit", "guest": "connection, member", "sieve": "packet filter",
		"teller":   "writer, log limiter",
		"unseated": "not configured", "gathering": "agreeing", "inquest": "loss experiment",
		"muster":  "choose guardians",
		"hearsay": "sighting", "burial": "tombstone", "stranger": "unverified",
	}
}

// retiredAlone are retired words that are also a part of other words: min_timeout is not minted, and a heartbeat is no
// beat.
func retiredAlone() map[string]string {
	return map[string]string{
		"story": "scenario, trace", "stories": "scenarios, traces",
		"mint": "create", "mints": "creates", "minted": "created", "anew": "again, regenerated",
		"beat": "heartbeat", "beats": "heartbeats",
		"bury": "tombstone", "buried": "tombstone", "liar": "Byzantine member", "liars": "Byzantine members",
		"wish": "request", "wishes": "requests, wants", "entrust": "pre-sign", "seat": "Env", "hall": "fair queue",
		"twin": "duplicate", "twins": "duplicates",
	}
}

// keptText are texts that operators, files and the network know; they keep their words.
var keptText = regexp.MustCompile(`"(gathering|minted|Beat|Buried|Entrust|strangers?|wish|liar|wanderd twin v1)"|` +
	// Commands and messages of the simulator's scripts, flags, and words of a paper.
	`"beats"|\[beats\||→\w+ (Beat|Buried)|── Beat ─|--liar`)

// wordFaults returns the retired words that a Go file has, in names, comments and texts.
func wordFaults(content string) []string {
	var faults []string
	for line := range strings.SplitSeq(content, "\n") {
		line = keptText.ReplaceAllString(line, "")
		fault := func(retired, word string) {
			faults = append(faults, fmt.Sprintf("%q is retired: say %s (%s)", retired, word, strings.TrimSpace(line)))
		}
		for retired, word := range retiredWords() {
			if strings.Contains(strings.ToLower(line), retired) {
				fault(retired, word)
			}
		}
		for _, part := range wordsOf(line) {
			if word, ok := retiredAlone()[part]; ok {
				fault(part, word)
			}
		}
	}
	slices.Sort(faults)
	return faults
}

// wordsOf splits a line into words, in lower case. ANewToken has three.
func wordsOf(line string) (words []string) {
	begin, letters := 0, []rune(line)
	for i := range len(letters) + 1 {
		inside := i < len(letters) && unicode.IsLetter(letters[i])
		starts := inside && unicode.IsUpper(letters[i]) && (i == begin || unicode.IsLower(letters[i-1]) ||
			i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if inside && !starts {
			continue
		}
		if i > begin {
			words = append(words, strings.ToLower(string(letters[begin:i])))
		}
		if begin = i; !inside {
			begin++
		}
	}
	return words
}

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
		"type guestInHall struct{}": 2, "// Hearsay counts less.": 1, "func (m *Machine) remuster() {}": 1,
		"// a connection waits": 0, "\tconst Agreeing = \"gathering\"": 0, "lobby, sending lobby\n// the sieve": 2,
		"// the story of a run": 1, "func storyWorld() {}": 1, "TestStories": 1, "history": 0,
		"m.beginsAnew()": 1, "func TestANewTokenIsGuarded": 0, "// it is made anew": 1,
		"mint(minTimeout)": 1, "beatAt heartbeatAt": 1, "Name: \"Beat\"": 0, "g.mintedAt = 0": 1,
		"wire.DropStranger": 1, "\"stranger\": 1": 0, "every wish": 1, "a.twin": 1, "Windows": 0,
	} {
		if got := wordFaults(content); len(got) != faults {
			t.Errorf("%q: found %q, want %d faults", content, got, faults)
		}
	}
}

func TestANameIsSplitIntoItsWords(t *testing.T) {
	for name, want := range map[string]string{
		"TestANewToken": "test a new token", "min_timeout": "min timeout", "HTTPServer(x)": "http server x", "": "",
		"beatsPerPatience": "beats per patience", "// Made anew.": "made anew",
	} {
		if got := strings.Join(wordsOf(name), " "); got != want {
			t.Errorf("%q has the words %q, want %q", name, got, want)
		}
	}
}

package wanderd_test

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages returns all pages by name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	pages := map[string]string{}
	if err := walk(func(name string) error {
		if path.Ext(name) == ".md" {
			pages[name] = read(t, name)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return pages
}

// walk calls do for all files of the tree that are kept.
func walk(do func(name string) error) error {
	return fs.WalkDir(os.DirFS("."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "bin", "dist"}, name):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		return do(name)
	})
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// isWritten reports whether a command writes a page.
func isWritten(text string) bool {
	text = strings.ReplaceAll(text, "\n", " ")
	return strings.Contains(text, writtenByCommand) || strings.Contains(text, "`make mutants` writes this page")
}

// linkFaults returns the links within the tree that lead nowhere: to a page, picture or heading that does not exist.
func linkFaults(pages map[string]string, exists func(name string) bool) []string {
	link := regexp.MustCompile(`\]\(([^()\s]+)\)`)
	var faults []string
	for name, text := range pages {
		for _, m := range link.FindAllStringSubmatch(withoutCode(text), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue
			}
			to := name
			if target != "" {
				to = path.Join(path.Dir(name), target)
			}
			switch page, isPage := pages[to]; {
			case !isPage && !exists(to):
				faults = append(faults, name+": "+m[1]+" does not exist")
			case anchor != "" && !slices.Contains(anchors(page), anchor):
				faults = append(faults, name+": "+m[1]+": the page has no such heading")
			}
		}
	}
	slices.Sort(faults)
	return faults
}

// withoutCode removes blocks and spans of code.
func withoutCode(text string) string {
	text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
	text = regexp.MustCompile("(?m)^    .*$").ReplaceAllString(text, "")
	return regexp.MustCompile("`[^`\n]*`").ReplaceAllString(text, "")
}

// anchors returns the anchors of a page's headings, as GitHub makes them.
func anchors(text string) []string {
	text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
	drop := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	linked := regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		name := strings.ToLower(linked.ReplaceAllString(m[1], "$1"))
		names = append(names, strings.ReplaceAll(drop.ReplaceAllString(name, ""), " ", "-"))
	}
	return names
}

// blocks returns the fenced blocks of one language.
func blocks(text, language string) []string {
	var found []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// indented returns the lines of indented blocks.
func indented(text string) []string {
	var lines []string
	before, within := "", false
	for line := range strings.SplitSeq(regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, ""), "\n") {
		isBlank := strings.TrimSpace(line) == ""
		within = within && isBlank || strings.HasPrefix(line, "    ") && (within || strings.TrimSpace(before) == "")
		if within && !isBlank {
			lines = append(lines, strings.TrimSpace(line))
		}
		before = line
	}
	return lines
}

// spans returns the texts between backquotes, which may continue on the next line.
func spans(text string) []string {
	text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
	var found []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		found = append(found, strings.Join(strings.Fields(m[1]), " "))
	}
	return found
}

// commands returns the lines of blocks, and the spans, that begin with a program that this test knows.
func commands(text string) []string {
	known := regexp.MustCompile(`^(# |sudo )?(wanderd|wandersim|go (test|run)|make) \S`)
	lines := slices.Concat(indented(text), spans(text))
	return slices.DeleteFunc(lines, func(line string) bool { return !known.MatchString(line) })
}

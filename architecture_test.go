package wanderd_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The picture of the house shows every package, and every package in the picture exists.
func TestArchitectureShowsTheHouse(t *testing.T) {
	drawn := houseDrawn(read(t, "ARCHITECTURE.md"))
	if len(drawn) < 30 {
		t.Fatalf("the picture has %q", drawn)
	}
	for _, room := range drawn {
		if info, err := os.Stat(filepath.FromSlash(room)); err != nil || !info.IsDir() {
			t.Errorf("ARCHITECTURE.md shows %s, which is not there", room)
		}
	}
	var packages []string
	for _, p := range list(t, "./...") {
		if p.ImportPath != module {
			packages = append(packages, p.local())
		}
	}
	for _, missing := range notDrawn(drawn, packages) {
		t.Errorf("ARCHITECTURE.md does not show %s", missing)
	}
}

func TestHouseRulesCatchAPlantedFault(t *testing.T) {
	drawn := houseDrawn("```text\nwire/     bytes\nagent/    a shell\n  hook/    a child\n" +
		"  a/, b/   more;   c/  and more\nlab/      all\n```\n")
	want := []string{"wire", "agent", "agent/hook", "agent/a", "agent/b", "agent/c", "lab"}
	if !slices.Equal(drawn, want) {
		t.Errorf("drawn: %q, want %q", drawn, want)
	}
	packages := []string{"wire", "agent", "agent/hook", "agent/hook/deep", "agent/new", "lab/study/paper", "policy"}
	if got, want := notDrawn(drawn, packages), []string{"agent/new", "policy"}; !slices.Equal(got, want) {
		t.Errorf("not drawn: %q, want %q", got, want)
	}
}

// houseDrawn returns the folders in the first picture of a page: rooms and, indented, the folders in them.
func houseDrawn(text string) []string {
	var drawn []string
	room := ""
	pictures := blocks(text, "text")
	if len(pictures) == 0 {
		return nil
	}
	folder := regexp.MustCompile(`(?:^|[ ,])([a-z0-9-]+(?:/[a-z0-9-]+)*)/(?:[ ,\n])`)
	for line := range strings.Lines(pictures[0]) {
		for i, m := range folder.FindAllStringSubmatch(strings.ReplaceAll(line, ", ", " , "), -1) {
			name := m[1]
			if strings.HasPrefix(line, " ") {
				name = path.Join(room, name)
			} else if i == 0 {
				room = name
			}
			drawn = append(drawn, name)
		}
	}
	return drawn
}

// notDrawn returns the packages that are in no room of the picture. If a room of the picture has rooms in it, the
// picture shows all of them.
func notDrawn(drawn, packages []string) []string {
	hasRooms := func(room string) bool {
		return slices.ContainsFunc(drawn, func(d string) bool { return strings.HasPrefix(d, room+"/") })
	}
	return slices.DeleteFunc(slices.Clone(packages), func(p string) bool {
		if slices.Contains(drawn, p) {
			return true
		}
		for above := path.Dir(p); above != "."; above = path.Dir(above) {
			if slices.Contains(drawn, above) {
				return !hasRooms(above)
			}
		}
		return false
	})
}

// Each decision has its line in the list, its number, and code that exists.
func TestDecisionsAreListed(t *testing.T) {
	index := read(t, "docs/decisions/README.md")
	files, err := filepath.Glob(filepath.Join("docs", "decisions", "[0-9]*.md"))
	if err != nil || len(files) < 80 {
		t.Fatalf("%d decisions, %v", len(files), err)
	}
	for i, file := range files {
		name, text := filepath.Base(file), read(t, file)
		if !strings.HasPrefix(name, fmt.Sprintf("%03d-", i+1)) {
			t.Errorf("%s is decision %d", name, i+1)
		}
		title, rest, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		code := regexp.MustCompile(`(?m)^Code: (.*)$`).FindStringSubmatch(rest)
		if code == nil {
			t.Errorf("%s does not say where its code is", name)
			continue
		}
		line := fmt.Sprintf("| %s | [%s](%s) | %s |\n", name[:3], title, name, code[1])
		if !strings.Contains(index, line) {
			t.Errorf("docs/decisions/README.md does not have the line\n%s", line)
		}
		for _, at := range spans(code[1]) {
			if _, err := os.Stat(filepath.FromSlash(at)); err != nil {
				t.Errorf("%s: there is no %s", name, at)
			} else if numbers, ok := decisionsOf(t, at); ok && !slices.Contains(numbers, name[:3]) {
				t.Errorf("the comment of package %s names the decisions %q, without %s", at, numbers, name[:3])
			}
		}
	}
}

// decisionsOf returns the decisions that the comment of the package in dir names. ok is false if there is no package
// comment.
func decisionsOf(t *testing.T, dir string) (numbers []string, ok bool) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*.go"))
	for _, file := range files {
		comment, _, isGo := strings.Cut(read(t, file), "\npackage ")
		if !isGo || !strings.Contains("\n"+comment, "\n// Package ") {
			continue
		}
		_, list, _ := strings.Cut(comment, "// Its decisions, in docs/decisions: ")
		return regexp.MustCompile(`\d{3}`).FindAllString(list, -1), true
	}
	return nil, false
}

// Each linked module is named with its purpose, and each named module is linked.
func TestDependenciesAreNamed(t *testing.T) {
	page := read(t, "docs/decisions/087-dependencies.md")
	required, _, _ := strings.Cut(read(t, "go.mod"), "// indirect")
	var modules []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(required, -1) {
		modules = append(modules, regexp.MustCompile(`/v\d+$`).ReplaceAllString(m[1], ""))
	}
	for _, name := range modules {
		if !strings.Contains(page, name) {
			t.Errorf("docs/decisions/087-dependencies.md does not say what %s is for", name)
		}
	}
	for line := range strings.Lines(page) {
		cell, _, isRow := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !isRow || !strings.Contains(cell, "/") {
			continue
		}
		for name := range strings.SplitSeq(cell, ", ") {
			if name = regexp.MustCompile(`/v\d+$`).ReplaceAllString(name, ""); !slices.Contains(modules, name) {
				t.Errorf("docs/decisions/087-dependencies.md names %s, which go.mod does not require", name)
			}
		}
	}
}

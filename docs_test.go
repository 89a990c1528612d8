package wanderd_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// Nobody reads a page that takes too much time. Pages of results are as long as there are results.
func TestPagesAreShort(t *testing.T) {
	const kib = 1 << 10
	most := map[string]int{"README.md": 10 * kib, "ARCHITECTURE.md": 12 * kib, "CONTRIBUTING.md": 6 * kib}
	for _, name := range []string{
		"events", "exec", "gates", "hook", "limits", "measured", "operations", "protocol", "reboots", "recovery",
		"rollouts", "simulator", "strict", "troubleshooting",
	} {
		most["docs/"+name+".md"] = 12 * kib
	}
	pages := pages(t)
	for name, limit := range most {
		switch text, ok := pages[name]; {
		case !ok:
			t.Errorf("there is no %s", name)
		case len(text) > limit:
			t.Errorf("%s has %d bytes, and may have %d: move what belongs to another question", name, len(text), limit)
		}
	}
	for name, text := range pages {
		if path.Dir(name) == "docs" && most[name] == 0 && !isWritten(text) {
			t.Errorf("%s is written by hand, and has no limit here", name)
		}
		if path.Dir(name) == "docs/decisions" && path.Base(name) != "README.md" && len(text) > 4*kib {
			t.Errorf("%s has %d bytes: it is more than one decision", name, len(text))
		}
	}
}

func TestLinksLeadSomewhere(t *testing.T) {
	for _, fault := range linkFaults(pages(t), func(name string) bool {
		_, err := os.Stat(filepath.FromSlash(name))
		return err == nil
	}) {
		t.Error(fault)
	}
}

func TestLinkRulesCatchAPlantedFault(t *testing.T) {
	for text, want := range map[string]int{
		"[a](b.md)": 0, "[a](b.md#one-two-three)": 0, "[a](#here)\n## Here": 0, "[a](d/)": 0,
		"[a](https://example.org/x#y)": 0, "```\n[a](gone.md)\n```": 0,
		"[a](gone.md)": 1, "[a](b.md#four)": 1, "[a](#there)\n## Here": 1, "[a\nb](gone.md)": 1, "![a](gone.png)": 1,
	} {
		pages := map[string]string{"a.md": text, "b.md": "# One `two`, three\n"}
		exists := func(name string) bool { return name == "a.md" || name == "b.md" || name == "d" }
		if got := linkFaults(pages, exists); len(got) != want {
			t.Errorf("%q: %q, want %d faults", text, got, want)
		}
	}
}

// An operator who has a package has the pages to which that package's README leads.
func TestPagesForOperatorsAreInThePackages(t *testing.T) {
	packages := read(t, "systemd/package/nfpm.yaml")
	pages := pages(t)
	for name := range pages {
		isLinked := path.Dir(name) == "docs" && strings.Contains(pages["README.md"], "]("+name)
		if isLinked && !strings.Contains(packages, "dst: /usr/share/doc/wanderd/"+name+",") {
			t.Errorf("README.md leads to %s, which systemd/package/nfpm.yaml leaves out", name)
		}
	}
}

// The program that is built from this tree understands each command of wanderd on a page. What commands of "go" and
// "make" name exists.
func TestCommandsOnPagesAreUnderstood(t *testing.T) {
	p := programs(t)
	makefile := read(t, "Makefile")
	checked := map[string]int{}
	for name, text := range pages(t) {
		if strings.HasPrefix(text, "# Changes") {
			continue // commands that once existed
		}
		for _, line := range commands(text) {
			for _, argv := range p.split(t, name, line) {
				if len(argv) == 0 {
					continue
				}
				checked[argv[0]]++
				if fault := p.fault(argv, makefile); fault != "" {
					t.Errorf("%s: %s: %s", name, line, fault)
				}
			}
		}
	}
	for _, program := range []string{"wanderd", "go", "make"} {
		if checked[program] < 10 {
			t.Errorf("only %d commands of %s were found on all pages", checked[program], program)
		}
	}
}

// Each flag on a page is one of the program's, and each key one of its table.
func TestFlagsAndKeysOnPagesExist(t *testing.T) {
	p := programs(t)
	flags, keys, sources := p.flags(t), settingKeys(t), sourceText(t)
	flag, key := regexp.MustCompile(`^--([a-z][a-z-]+)`), regexp.MustCompile(`^[a-z]+(_[a-z]+)+$`)
	assigned := regexp.MustCompile(`^([a-z_]+) = \S`)
	for name, text := range pages(t) {
		if isWritten(text) && name != "docs/configuration.md" {
			continue
		}
		for _, span := range spans(text) {
			if m := flag.FindStringSubmatch(span); m != nil && !slices.Contains(flags, m[1]) {
				t.Errorf("%s: no command has the flag in %s", name, span)
			}
			if m := assigned.FindStringSubmatch(span); m != nil && !slices.Contains(keys, m[1]) {
				t.Errorf("%s: no setting has the key in %s", name, span)
			}
			ofOthers := []string{"rule_files", "reboot_command", "fleet_lock"} // Prometheus', dnf's, Zincati's
			isOurs := !slices.Contains(ofOthers, span)
			if isOurs && key.MatchString(span) && !slices.Contains(keys, span) &&
				!strings.Contains(sources, strings.TrimPrefix(span, "wanderd_")) { // before the name of a metric
				t.Errorf("%s: nothing is called %s", name, span)
			}
		}
		for _, block := range blocks(text, "toml") {
			var file struct {
				Gate []map[string]any
			}
			top := map[string]any{}
			if _, err := toml.Decode(block, &top); err != nil {
				t.Errorf("%s: %v in\n%s", name, err, block)
				continue
			}
			_, _ = toml.Decode(block, &file)
			delete(top, "gate")
			for _, table := range append(file.Gate, top) {
				for k := range table {
					if !slices.Contains(keys, k) {
						t.Errorf("%s: no setting has the key %s", name, k)
					}
				}
			}
		}
	}
}

// The program says what the page on messages quotes.
func TestMessagesInTroubleshootingAreSaid(t *testing.T) {
	sources := sourceText(t)
	quoted := regexp.MustCompile(`"([^"]+)"`)
	found := 0
	for line := range strings.Lines(read(t, "docs/troubleshooting.md")) {
		cell, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !ok || !strings.HasPrefix(line, "| \"") {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
			found++
			for part := range strings.SplitSeq(m[1], "…") {
				part = strings.TrimSpace(part)
				isOurs := part != "UDP probes failed" // memberlist says it
				if isOurs && !strings.Contains(sources, part) {
					t.Errorf("nothing says %q", part)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d messages were found", found)
	}
}

// A newcomer types what the README shows. Commands that need other hosts are tested as far as one host allows.
func TestCommandsOfTheReadmeRun(t *testing.T) {
	p := programs(t)
	dir := t.TempDir()
	script := filepath.Join(dir, "hook.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	place := func(text string) string {
		text = strings.ReplaceAll(text, "/etc/wanderd", dir)
		return regexp.MustCompile(`[./\w-]*/(sync|backup)\.sh`).ReplaceAllString(text, script)
	}
	p.run(t, 0, "keygen", "--secret", filepath.Join(dir, "before"))
	readme := read(t, "README.md")
	ran := 0
	for _, line := range indented(readme) {
		for _, argv := range p.split(t, "README.md", place(line)) {
			switch {
			case len(argv) == 0 || argv[0] == "install" || argv[0] == "make": // other tests check targets
			case argv[0] == "go" && argv[1] == "test": // this test runs under it
			case argv[0] == "go" && slices.Equal(argv[1:], []string{"run", "./cmd/wanderd", "demo"}):
				p.run(t, 0, "demo", "--for", "1s")
			case argv[0] != "wanderd":
				t.Errorf("README.md: nobody has tried %q", line)
			case argv[1] == "keygen":
				p.run(t, 0, argv[1:]...)
			case strings.HasPrefix(argv[1], "-"): // an agent would not end
				for i, arg := range argv {
					if arg == filepath.Join(dir, "secret") {
						argv[i] = filepath.Join(dir, "before")
					}
				}
				p.run(t, 0, slices.Concat([]string{"config", "check", "--trust-hook"}, argv[1:])...)
			default: // it asks an agent, and there is none
				p.run(t, 69, argv[1:]...)
			}
			ran++
		}
	}
	if ran < 8 {
		t.Errorf("only %d commands were found", ran)
	}
	for _, block := range blocks(readme, "toml") {
		file := filepath.Join(dir, "wanderd.toml")
		block = strings.ReplaceAll(place(block), filepath.Join(dir, "secret"), filepath.Join(dir, "before"))
		if err := os.WriteFile(file, []byte(block), 0o644); err != nil {
			t.Fatal(err)
		}
		p.run(t, 0, "config", "check", "--trust-hook", "--config", file)
	}
}

// settingKeys returns the keys that a file may contain: the headings of the page of settings, which is written from
// their table.
func settingKeys(t *testing.T) []string {
	t.Helper()
	keys := []string{"name", "gate"}
	heading := regexp.MustCompile("(?m)^### `([a-z_]+)`$")
	for _, m := range heading.FindAllStringSubmatch(read(t, "docs/configuration.md"), -1) {
		keys = append(keys, m[1])
	}
	return keys
}

// sourceText returns all Go source except tests. Texts that are split over several lines are joined.
func sourceText(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	if err := walk(func(name string) error {
		if path.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") {
			b.WriteString(read(t, name))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`"\s*\+\s*"`).ReplaceAllString(b.String(), "")
}

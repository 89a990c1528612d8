package wanderd_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/BurntSushi/toml"

	"github.com/wanderd/wanderd/agent/hook"
)

// A page that nobody has time for is not read. Pages of results are as long as there are results.
func TestPagesAreShort(t *testing.T) {
	const kib = 1 << 10
	most := map[string]int{
		"README.md": 10 * kib, "ARCHITECTURE.md": 12 * kib, "CONTRIBUTING.md": 6 * kib,
		"docs/exec.md": 12 * kib, "docs/hook.md": 12 * kib, "docs/limits.md": 12 * kib, "docs/measured.md": 12 * kib, "docs/operations.md": 12 * kib,
		"docs/protocol.md": 12 * kib, "docs/recovery.md": 12 * kib, "docs/simulator.md": 12 * kib, "docs/strict.md": 12 * kib,
		"docs/troubleshooting.md": 12 * kib,
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
		"[a](b.md)": 0, "[a](b.md#one-two-three)": 0, "[a](#here)\n## Here": 0, "[a](https://example.org/x#y)": 0, "[a](d/)": 0, "```\n[a](gone.md)\n```": 0,
		"[a](gone.md)": 1, "[a](b.md#four)": 1, "[a](#there)\n## Here": 1, "[a\nb](gone.md)": 1, "![a](gone.png)": 1,
	} {
		pages := map[string]string{"a.md": text, "b.md": "# One `two`, three\n"}
		exists := func(name string) bool { return name == "a.md" || name == "b.md" || name == "d" }
		if got := linkFaults(pages, exists); len(got) != want {
			t.Errorf("%q: %q, want %d faults", text, got, want)
		}
	}
}

// Each command of wanderd on a page is understood by the program that is built from this tree; what "go" and "make" are told exists.
func TestCommandsOnPagesAreUnderstood(t *testing.T) {
	p := programs(t)
	makefile := read(t, "Makefile")
	checked := map[string]int{}
	for name, text := range pages(t) {
		if strings.HasPrefix(text, "# Changes") {
			continue // of commands that once were
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
			if key.MatchString(span) && !slices.Contains(keys, span) && !strings.Contains(sources, span) && span != "rule_files" { // Prometheus'
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

// What the page on messages quotes is what the program says.
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
				if part = strings.TrimSpace(part); !strings.Contains(sources, part) && part != "UDP probes failed" { // memberlist says it
					t.Errorf("nothing says %q", part)
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d messages were found", found)
	}
}

// Who tries wanderd types what the README says. What would need other hosts is told to the program as far as one host can.
func TestCommandsOfTheReadmeRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs a demo")
	}
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
			case len(argv) == 0 || argv[0] == "install" || argv[0] == "make": // TestCommandsOnPagesAreUnderstood looks at make
			case argv[0] == "go" && argv[1] == "test": // this is it
			case argv[0] == "go" && slices.Equal(argv[1:], []string{"run", "./cmd/wanderd", "demo"}):
				p.run(t, 0, "demo", "--for", "1s")
			case argv[0] != "wanderd":
				t.Errorf("README.md: nobody has tried %q", line)
			case argv[1] == "keygen":
				p.run(t, 0, argv[1:]...)
			case strings.HasPrefix(argv[1], "-"): // an agent: it would go on
				argv = slices.DeleteFunc(argv, func(a string) bool { return a == filepath.Join(dir, "secret") || a == "--secret-file" })
				p.run(t, 0, append([]string{"config", "check", "--trust-hook", "--secret-file", filepath.Join(dir, "before")}, argv[1:]...)...)
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

// pages returns all pages by their names.
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

// walk calls do with all files of the tree that are kept.
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

// linkFaults says which links within the tree lead nowhere: a page, a picture, a heading.
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

// anchors are the names of a page's headings, as GitHub makes them.
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

// blocks are the fenced blocks of one language.
func blocks(text, language string) []string {
	var found []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		found = append(found, m[1])
	}
	return found
}

// indented are the lines of indented blocks.
func indented(text string) []string {
	var lines []string
	before, within := "", false
	for line := range strings.SplitSeq(regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, ""), "\n") {
		within = strings.HasPrefix(line, "    ") && (within || strings.TrimSpace(before) == "") || within && strings.TrimSpace(line) == ""
		if within && strings.TrimSpace(line) != "" {
			lines = append(lines, strings.TrimSpace(line))
		}
		before = line
	}
	return lines
}

// spans are the texts between backquotes, which may go over the end of a line.
func spans(text string) []string {
	text = regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(text, "")
	var found []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		found = append(found, strings.Join(strings.Fields(m[1]), " "))
	}
	return found
}

// commands are the lines of blocks, and the spans, that begin with a program that this test knows.
func commands(text string) []string {
	known := regexp.MustCompile(`^(# |sudo )?(wanderd|go (test|run)|make) \S`)
	return slices.DeleteFunc(slices.Concat(indented(text), spans(text)), func(line string) bool { return !known.MatchString(line) })
}

// built are the programs of this tree.
type built struct{ dir string }

// programs builds the programs, once.
func programs(t *testing.T) *built {
	t.Helper()
	p, err := builtOnce()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// programsDir is where the programs are, once they are built.
var programsDir string

var builtOnce = sync.OnceValues(func() (p *built, err error) {
	if programsDir, err = os.MkdirTemp("", "wanderd-docs-"); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "build", "-o", programsDir+string(filepath.Separator), "./cmd/...")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return &built{programsDir}, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if programsDir != "" {
		_ = os.RemoveAll(programsDir)
	}
	os.Exit(code)
}

// output runs wanderd where there is no agent, and returns what it says.
func (p *built) output(args ...string) (string, int) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(p.dir, "wanderd"), args...)
	cmd.Env = []string{"PATH=" + p.dir + ":" + os.Getenv("PATH"), "HOME=" + p.dir, "WANDERD_STATE_DIR=" + filepath.Join(p.dir, "state")}
	out, err := cmd.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(out), exit.ExitCode()
	} else if err != nil {
		return err.Error(), -1
	}
	return string(out), 0
}

func (p *built) run(t *testing.T, want int, args ...string) {
	t.Helper()
	if out, code := p.output(args...); code != want {
		t.Errorf("wanderd %s: status %d, want %d\n%s", strings.Join(args, " "), code, want, out)
	}
}

// split takes a line of a shell apart into its commands. What stands in brackets may be left out there; here it is not.
func (p *built) split(t *testing.T, page, line string) [][]string {
	t.Helper()
	optional := regexp.MustCompile(`\[[^\]"']*\]`)
	line = optional.ReplaceAllStringFunc(line, func(s string) string { return strings.ReplaceAll(strings.Trim(s, "[]"), "|", " ") })
	line = regexp.MustCompile(`\s# .*| {3}".*`).ReplaceAllString(line, "")
	var found [][]string
	for part := range strings.SplitSeq(regexp.MustCompile(` && | \| | \|\| | >+`).ReplaceAllString(line, "\x00"), "\x00") {
		argv, err := hook.Split(strings.TrimPrefix(strings.TrimPrefix(part, "# "), "sudo "))
		if err != nil {
			t.Errorf("%s: %s: %v", page, line, err)
		}
		for len(argv) > 0 && regexp.MustCompile(`^[A-Z_]+=`).MatchString(argv[0]) {
			argv = argv[1:]
		}
		found = append(found, argv)
	}
	return found
}

// fault says what is wrong with a command.
func (p *built) fault(argv []string, makefile string) string {
	switch argv[0] {
	case "wanderd":
		if i := slices.Index(argv, "--"); i >= 0 {
			argv = argv[:i]
		}
		if out, code := p.output(append(slices.Clone(argv[1:]), "--help")...); code != 0 {
			return out
		}
	case "make":
		for _, target := range argv[1:] {
			if !strings.Contains(target, "=") && !strings.Contains(makefile, "\n"+target+":") {
				return "there is no such target"
			}
		}
	case "go":
		return goFault(argv)
	}
	return ""
}

// goFault says what is wrong with what "go test" or "go run" is told: a package, a test or a flag that is not there.
func goFault(argv []string) string {
	if len(argv) < 3 || argv[1] != "test" && argv[1] != "run" {
		return ""
	}
	dir := ""
	for i := 2; i < len(argv); i++ {
		switch arg := argv[i]; {
		case dir == "":
			dir = strings.TrimPrefix(strings.TrimSuffix(arg, "/..."), "./")
			if _, err := os.Stat(filepath.FromSlash(path.Join(dir, "."))); err != nil {
				return "there is no " + arg
			}
			if argv[1] == "run" {
				return ""
			}
		case arg == "-run" || arg == "-bench":
			i++
			word := map[string]string{"-run": "Test", "-bench": "Benchmark"}[arg]
			if i < len(argv) && argv[i] != "^$" && argv[i] != "." && !hasTest(dir, word, argv[i]) {
				return "nothing in " + dir + " is called like " + argv[i]
			}
		case strings.HasPrefix(arg, "-") && !slices.Contains([]string{"-v", "-short", "-race", "-benchtime", "-benchmem", "-timeout", "-count"}, arg):
			if !hasTest(dir, "", regexp.QuoteMeta(strings.TrimPrefix(arg, "-"))) {
				return "no test in " + dir + " has the flag " + arg
			}
		}
	}
	return ""
}

// hasTest reports whether a folder has a test or a benchmark whose name matches; without a word, a flag of that name.
func hasTest(dir, word, pattern string) bool {
	pattern, _, _ = strings.Cut(pattern, "/")
	name, err := regexp.Compile(pattern)
	if err != nil {
		return false
	}
	declared := regexp.MustCompile(`(?m)^func (` + word + `\w+)\(`)
	if word == "" {
		declared = regexp.MustCompile(`flag\.\w+\((?:&\w+, )?"([\w.]+)"`)
	}
	files, _ := filepath.Glob(filepath.Join(filepath.FromSlash(path.Join(dir, ".")), "*_test.go"))
	if word == "" { // flags that several packages of tests share
		files = append(files, filepath.Join("lab", "mutant", "seeds.go"))
	}
	for _, file := range files {
		text, _ := os.ReadFile(file)
		for _, m := range declared.FindAllSubmatch(text, -1) {
			if name.Match(m[1]) {
				return true
			}
		}
	}
	return false
}

// flags are the names of the flags of all commands, as help shows them.
func (p *built) flags(t *testing.T) []string {
	t.Helper()
	var all []string
	var ask func(command []string)
	ask = func(command []string) {
		out, code := p.output(append(slices.Clone(command), "--help")...)
		if code != 0 {
			t.Fatalf("wanderd %s --help: %s", strings.Join(command, " "), out)
		}
		for _, m := range regexp.MustCompile(`(?m)^  (?:-\w, )?--([a-z-]+)`).FindAllStringSubmatch(out, -1) {
			all = append(all, m[1])
		}
		_, list, _ := strings.Cut(out, "\nCommands:\n")
		list, _, _ = strings.Cut(list, "\n\n")
		for line := range strings.Lines(list) {
			if name := strings.Fields(line); len(name) > 0 && name[0] != "help" {
				ask(append(slices.Clone(command), name[0]))
			}
		}
	}
	ask(nil)
	return append(all, "help", "version")
}

// settingKeys are the keys that may stand in a file: the headings of the page of settings, which is written from their table.
func settingKeys(t *testing.T) []string {
	t.Helper()
	keys := []string{"name", "gate"}
	for _, m := range regexp.MustCompile("(?m)^### `([a-z_]+)`$").FindAllStringSubmatch(read(t, "docs/configuration.md"), -1) {
		keys = append(keys, m[1])
	}
	return keys
}

// sourceText is all Go source but tests, with texts that go over several lines put together.
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

package wanderd_test

import (
	"context"
	"errors"
	"fmt"
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

	"github.com/wanderd/wanderd/agent/hook"
)

// built are the programs that are built from this tree.
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

// programsDir is the directory of the programs, once they are built.
var programsDir string

var builtOnce = sync.OnceValues(func() (p *built, err error) {
	if programsDir, err = os.MkdirTemp("", "wanderd-docs-"); err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "build", "-o", programsDir+string(filepath.Separator), "./cmd/...", "./lab/cmd/...")
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

// output runs a program where there is no agent, and returns its output.
func (p *built) output(program string, args ...string) (string, int) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(p.dir, program), args...)
	cmd.Env = []string{
		"PATH=" + p.dir + ":" + os.Getenv("PATH"), "HOME=" + p.dir,
		"WANDERD_STATE_DIR=" + filepath.Join(p.dir, "state"),
	}
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
	if out, code := p.output("wanderd", args...); code != want {
		t.Errorf("wanderd %s: status %d, want %d\n%s", strings.Join(args, " "), code, want, out)
	}
}

// split splits a line of a shell into its commands. Words in brackets are optional there; split leaves the brackets
// out.
func (p *built) split(t *testing.T, page, line string) [][]string {
	t.Helper()
	optional := regexp.MustCompile(`\[[^\]"']*\]`)
	line = optional.ReplaceAllStringFunc(line, func(s string) string {
		return strings.ReplaceAll(strings.Trim(s, "[]"), "|", " ")
	})
	line = regexp.MustCompile(`\s# .*| {3}".*`).ReplaceAllString(line, "")
	var found [][]string
	between := regexp.MustCompile(` && | \| | \|\| | >+`)
	for _, part := range between.Split(line, -1) {
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

// fault returns what is wrong with a command.
func (p *built) fault(argv []string, makefile string) string {
	switch argv[0] {
	case "wanderd", "wandersim":
		if i := slices.Index(argv, "--"); i >= 0 {
			argv = argv[:i]
		}
		if out, code := p.output(argv[0], append(slices.Clone(argv[1:]), "--help")...); code != 0 {
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

// goFault returns what is wrong with the arguments of "go test" or "go run": a package, a test or a flag that does not
// exist.
func goFault(argv []string) string {
	ofGoTest := []string{"-v", "-short", "-race", "-benchmem"}
	withValue := []string{"-benchtime", "-timeout", "-count"}
	var dirs, names, flags []string
	for i := 2; i < len(argv); i++ {
		switch arg := argv[i]; {
		case arg == "-run" || arg == "-bench":
			if i++; i < len(argv) && argv[i] != "^$" && argv[i] != "." {
				names = append(names, map[string]string{"-run": "Test", "-bench": "Benchmark"}[arg], argv[i])
			}
		case slices.Contains(ofGoTest, arg):
		case slices.Contains(withValue, arg):
			i++
		case strings.HasPrefix(arg, "-"):
			flags = append(flags, strings.TrimPrefix(arg, "-"))
		case len(flags) == 0: // what follows a test's own flag may be its value
			dirs = append(dirs, path.Clean(strings.TrimSuffix(arg, "/...")))
			if _, err := os.Stat(filepath.FromSlash(dirs[len(dirs)-1])); err != nil {
				return "there is no " + arg
			}
			if argv[1] == "run" {
				return ""
			}
		}
	}
	for i := 0; i < len(names); i += 2 {
		has := func(dir string) bool { return hasTest(dir, names[i], names[i+1]) }
		if !slices.ContainsFunc(dirs, has) {
			return "nothing there is called like " + names[i+1]
		}
	}
	for _, name := range flags {
		has := func(dir string) bool { return hasTest(dir, "", "^"+regexp.QuoteMeta(name)+"$") }
		if !slices.ContainsFunc(dirs, has) {
			return "no test there has the flag -" + name
		}
	}
	return ""
}

// hasTest reports whether a folder has a test or a benchmark whose name matches. If word is empty, it reports whether
// the folder has a flag of that name.
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
	if word == "" { // flags that the tests of several packages share
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

// flags returns the names of the flags of all commands, as help shows them.
func (p *built) flags(t *testing.T) []string {
	t.Helper()
	var all []string
	var ask func(command []string)
	ask = func(command []string) {
		out, code := p.output("wanderd", append(slices.Clone(command), "--help")...)
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

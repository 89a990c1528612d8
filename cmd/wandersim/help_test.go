package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/wanderd/wanderd/cmd/cli"
)

// every calls do with the words of each command that help lists.
func every(cmd *cobra.Command, words []string, do func(words []string)) {
	do(words)
	for _, child := range cmd.Commands() {
		if child.IsAvailableCommand() {
			every(child, append(slices.Clone(words), child.Name()), do)
		}
	}
}

func output(t *testing.T, p *program, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	p.stdout, p.stderr = &out, &out
	if code := p.run(t.Context(), args); code != cli.ExitOK {
		t.Fatalf("%v: exit code %d: %s", args, code, out.String())
	}
	return out.String()
}

// Help shows "wandersim hunt" to a user who has started it so, and "wanderd sim hunt" to one who has started that.
func TestHelpFitsATerminalAndNamesTheProgramAsItWasCalled(t *testing.T) {
	for name, commands := range map[string]string{
		programName: "|plan|plan backups|sim|hunt|trace|", agentName: "|plan|plan backups|sim|sim hunt|sim trace|",
	} {
		p := &program{name: name}
		seen := "|"
		every(p.commands().Root, nil, func(words []string) {
			seen += strings.Join(words, " ") + "|"
			if last := strings.Join(words, " "); strings.HasSuffix(last, "list") || strings.HasSuffix(last, "run") {
				return // another program carries it out
			}
			text := output(t, p, append(slices.Clone(words), "--help")...)
			if !strings.HasPrefix(text[strings.Index(text, "\nUsage:\n"):], "\nUsage:\n  "+name) {
				t.Errorf("%s %v: no usage", name, words)
			}
			if name == programName && len(words) > 0 && strings.Contains(text, "wanderd sim ") {
				t.Errorf("%s %v speaks of wanderd sim:\n%s", name, words, text)
			}
			for line := range strings.Lines(text) {
				if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 92 {
					t.Errorf("%v: a line of %d columns: %s", words, n, line)
				}
			}
		})
		for want := range strings.SplitSeq(strings.Trim(commands, "|"), "|") {
			if !strings.Contains(seen, "|"+want+"|") {
				t.Errorf("%s has no command %q: %s", name, want, seen)
			}
		}
	}
}

func TestEveryCommandHasAPageThatRoffUnderstands(t *testing.T) {
	dir := t.TempDir()
	output(t, &program{name: programName}, "manual", dir)
	for _, name := range []string{
		"wandersim.1", "wandersim-plan-backups.1", "wandersim-sim.1", "wandersim-hunt.1", "wandersim-trace.1",
	} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("no groff here")
	}
	pages, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, page := range pages {
		if out, err := exec.Command("groff", "-man", "-Kutf8", "-Tutf8", "-ww", "-z", page).
			CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", page, err, out)
		}
	}
}

func TestCompletions(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(script, []byte(output(t, &program{name: programName}, "completion", shell)),
			0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		if out, err := exec.Command(shell, "-n", script).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
	}
	if got := output(t, &program{name: programName}, "__complete", "sim", "--walk", ""); !strings.HasPrefix(got,
		"random\nshuffle\nsweep\n") {
		t.Errorf("values of --walk: %s", got)
	}
}

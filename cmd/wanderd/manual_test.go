package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

// manual writes the pages, and returns them by name.
func manual(t *testing.T) map[string]string {
	t.Helper()
	dir := t.TempDir()
	var out bytes.Buffer
	p := program{stdout: &out, stderr: &out, now: noon}
	if code := p.run(t.Context(), []string{"manual", dir}); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, out.String())
	}
	pages := map[string]string{}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		pages[f.Name()] = string(text)
	}
	return pages
}

func TestTheManualHasEverySettingTwice(t *testing.T) {
	pages := manual(t)
	for _, s := range config.Table() {
		if !strings.Contains(pages["wanderd.8"], "\n.B "+cli.Roff("--"+s.Flag())) {
			t.Errorf("wanderd(8) lacks --%s", s.Flag())
		}
		if has := strings.Contains(pages["wanderd.toml.5"], "\n.B "+cli.Roff(s.Key)+"\n"); has == s.NotInFile {
			t.Errorf("wanderd.toml(5) has %s: %v", s.Key, has)
		}
	}
}

func TestEveryCommandHasAPageThatRoffUnderstands(t *testing.T) {
	pages := manual(t)
	for _, name := range []string{
		"wanderd.8", "wanderd.toml.5", "wanderd-status.1", "wanderd-plan.1", "wanderd-sim.1",
	} {
		if pages[name] == "" {
			t.Errorf("no page %s", name)
		}
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("no groff here")
	}
	for name, page := range pages {
		cmd := exec.Command("groff", "-man", "-Kutf8", "-Tutf8", "-ww", "-z")
		cmd.Stdin = strings.NewReader(page)
		if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

func TestCompletions(t *testing.T) {
	for shell, check := range map[string][]string{
		"bash": {"bash", "-n"}, "zsh": {"zsh", "-n"}, "fish": {"fish", "-n"},
	} {
		var out bytes.Buffer
		p := program{stdout: &out, stderr: &out, now: noon}
		if code := p.run(t.Context(), []string{"completion", shell}); code != cli.ExitOK || out.Len() == 0 {
			t.Errorf("%s: exit code %d: %s", shell, code, out.String())
		}
		if _, err := exec.LookPath(check[0]); err != nil {
			continue
		}
		script := filepath.Join(t.TempDir(), "script")
		if err := os.WriteFile(script, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(check[0], append(check[1:], script)...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", shell, err, out)
		}
	}
	var out bytes.Buffer
	p := program{stdout: &out, stderr: &out, now: noon}
	if code := p.run(t.Context(), []string{"completion", "csh"}); code != cli.ExitUsage ||
		!strings.Contains(out.String(), "shell: bash, zsh, fish") {
		t.Errorf("csh: exit code %d: %s", code, out.String())
	}
	out.Reset()
	if p.run(t.Context(), []string{"__complete", "--walk", ""}); !strings.HasPrefix(out.String(),
		"random\nshuffle\nsweep\n") {
		t.Errorf("values of --walk: %s", out.String())
	}
	out.Reset()
	if p.run(t.Context(), []string{"__complete", "pause", "--"}); !strings.Contains(out.String(),
		"--for\tHow long it lasts: a DURATION") {
		t.Errorf("flags of pause: %s", out.String())
	}
}

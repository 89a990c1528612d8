package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/wanderd/config"
)

func help(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	p := program{stdout: &out, stderr: &out, now: noon}
	if code := p.run(t.Context(), append(args, "--help")); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, out.String())
	}
	return out.String()
}

func TestHelpListsEverySetting(t *testing.T) {
	text := help(t)
	for _, s := range config.Table() {
		if !strings.Contains(text, "\n  --"+s.Flag()+" ") && !strings.Contains(text, "\n  --"+s.Flag()+"\n") {
			t.Errorf("--%s is missing", s.Flag())
		}
	}
}

func TestHelpFitsATerminal(t *testing.T) {
	for _, args := range [][]string{
		nil,
		{"exec"},
		{"status"},
		{"members"},
		{"history"},
		{"pause"},
		{"resume"},
		{"run"},
		{"drain"},
		{"config"},
		{"config", "show"},
		{"config", "check"},
		{"keygen"},
		{"gate"},
		{"gate", "renew"},
		{"gate", "reset"},
		{"completion"},
		{"manual"},
		{"version"},
		{"help"},
		{"demo"},
	} {
		text := help(t, args...)
		if !strings.HasPrefix(text[strings.Index(text, "\nUsage:\n"):], "\nUsage:\n  wanderd") {
			t.Errorf("%v: no usage", args)
		}
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 92 {
				t.Errorf("%v: a line of %d columns: %s", args, n, line)
			}
		}
	}
}

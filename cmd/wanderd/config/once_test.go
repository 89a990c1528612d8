package config

import (
	"strings"
	"testing"
	"time"
)

func TestOnceIsAboutTheHookOfAGateWithOneToken(t *testing.T) {
	const hook = "hook = \"/bin/true\"\nmin_interval = \"20h\"\n"
	for file, want := range map[string]string{
		hook + "once = true\n":                       "",
		"[[gate]]\nname = \"x\"\nonce = true":        "it is about a hook, and this gate has none",
		hook + "slots = 2\n" + "once = true\n":       "several hosts would run in one interval",
		hook + "max_interval = \"60h\"\nonce = no\n": "expected value",
	} {
		l := reading{file: file}.read(t)
		text := ""
		if err := l.Check(); err != nil {
			text = err.Error()
		}
		if want == "" && strings.Contains(text, "once") || !strings.Contains(text, want) {
			t.Errorf("%q: %s, want %s", file, text, want)
		}
	}
	for file, want := range map[string]time.Duration{hook + "once = true\n": 20 * time.Hour, hook: 0} {
		l := reading{file: file}.read(t)
		if err := l.Check(); err != nil {
			t.Fatal(err)
		}
		if got := l.Agent.Gates[0].Once; got != want {
			t.Errorf("%q: one success in %v is enough, want %v", file, got, want)
		}
	}
}

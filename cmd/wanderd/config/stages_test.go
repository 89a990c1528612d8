package config

import (
	"strings"
	"testing"
)

func TestStagesArePatternsOfAGateWithAHook(t *testing.T) {
	const hook = "hook = \"/bin/true\"\n"
	many := strings.Repeat(`"x",`, 9)
	for file, want := range map[string]string{
		"first = [\"canary-*\", \"eu-*\"]\n" + hook: "",
		"[[gate]]\nname = \"x\"\nfirst = [\"a\"]":   "it orders the runs of a hook, and this gate has none",
		"first = [\"a[\"]\n" + hook:                 "the pattern \"a[\": * stands for any text",
		"first = [\"a\", \"a\"]\n" + hook:           "the pattern \"a\" is there twice",
		"first = [" + many + "]\n" + hook:           "9 patterns, and at most 8 are allowed",
		"first = [\"\"]\n" + hook:                   "first: an element is empty",
	} {
		err := reading{file: file}.read(t).Check()
		text := ""
		if err != nil {
			text = err.Error()
		}
		if want == "" && strings.Contains(text, "first") || !strings.Contains(text, want) {
			t.Errorf("%q: %s, want %s", file, text, want)
		}
	}
}

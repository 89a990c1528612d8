package config

import (
	"strings"
	"testing"

	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/wander"
)

// Who sets a share of the members beside something that needs a number is told so.
func TestSlotsAreANumberOrAShareOfTheMembers(t *testing.T) {
	const hook, onCall = "hook = \"/bin/true\"\n", "policy = \"call\"\n"
	const zone = "zone = \"a\"\n[[gate]]\nname = \"x\"\n" + hook
	for file, want := range map[string]string{
		"[[gate]]\nname = \"x\"\nslots = \"10%\"":                   "",
		hook + onCall + "slots = \"10%\"":                           "",
		hook + "slots = \"10%\"":                                    "",
		hook + "slots = \"10%\"\nkeep = \"15m\"":                    "need a gate with one token",
		hook + "slots = \"0%\"":                                     "neither a number from 1 to 64 nor a share",
		hook + "slots = \"101%\"":                                   "neither a number from 1 to 64 nor a share",
		hook + onCall + "slots = \"10%\"\nonce = true":              "several hosts would run in one interval",
		hook + onCall + "slots = \"10%\"\nkeep = \"15m\"":           "need a gate with one token",
		hook + onCall + "slots = \"10%\"\nmax_down = \"9%\"":        "give a share of 10% at least",
		hook + onCall + "slots = \"10%\"\nmax_down = 3":             "give a share of 10% at least",
		hook + onCall + "slots = \"10%\"\nmax_down = \"10%\"":       "",
		hook + "slots = 4\nmax_down = 3":                            "with slots = 4 as many hosts may run at once",
		zone + onCall + "slots = \"10%\"\nper_zone = 1":             "",
		zone + "slots = 2\nper_zone = 2":                            "per_zone 2 (wanderd.toml:6) does not matter",
		"[[gate]]\nname = \"x\"\npolicy = \"tree\"\nslots = \"5%\"": "it has no effect in a gate with policy",
	} {
		l := reading{file: file + "\n"}.read(t)
		text := ""
		if err := l.Check(); err != nil {
			text = err.Error()
		}
		if want == "" && strings.Contains(text, "slots") || !strings.Contains(text, want) {
			t.Errorf("%q: %s, want %s", file, text, want)
		}
	}
	l := reading{file: hook + onCall + "slots = \"10%\"\n"}.read(t)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	if s := l.Agent.Gates[0].Protocol.(call.Settings); s.SlotsShare != 10 || s.Slots != 0 {
		t.Errorf("%+v", s)
	}
	l = reading{file: hook + "slots = \"10%\"\n"}.read(t)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	if s := l.Agent.Gates[0].Protocol.(wander.Settings); s.SlotsShare != 10 || s.Slots != 0 {
		t.Errorf("%+v", s)
	}
	l = reading{file: hook + "slots = 3\n"}.read(t)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	if s := l.Agent.Gates[0].Protocol.(wander.Settings); s.Slots != 3 {
		t.Errorf("%+v", s)
	}
}

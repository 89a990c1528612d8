package config

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/policy/call"
	"github.com/wanderd/wanderd/policy/strict"
	"github.com/wanderd/wanderd/policy/wander"
)

// togetherFile is a configuration with some gates, each of which begins with its name.
func togetherFile(top string, gates ...[]string) reading {
	in := reading{env: []string{"WANDERD_STATE_DIR=/var/x"}, file: top + "\n"}
	for _, lines := range gates {
		in.file += "[[gate]]\nname = \"" + lines[0] + "\"\n" + strings.Join(lines[1:], "\n") + "\n"
	}
	return in
}

func TestARunHoldsTheGatesOfWithAndOfItsZone(t *testing.T) {
	l := togetherFile(`zone = "eu-1a"`,
		[]string{
			"upgrade", `hook = "/bin/sh"`, `with = ["backup", "db"]`, `with_wait = "5m"`, "slots = 4", "per_zone = 2",
			"backups = 0", `skip = "3s"`,
		},
		[]string{"backup"}, []string{"db"},
	).read(t)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	if n := len(l.Agent.Gates); n != 4 {
		t.Fatalf("%d gates", n)
	}
	g, z := l.Agent.Gates[0], l.Agent.Gates[3]
	if !slices.Equal(g.With, []string{"backup", "db"}) || g.WithWait != 5*time.Minute || g.Zone != "upgrade@eu-1a" {
		t.Errorf("%+v", g)
	}
	s := z.Protocol.(call.Settings)
	if z.Name != g.Zone || z.ZoneOf != "upgrade" || s.Slots != 2 || s.Skip != 3*time.Second || s.Backups != 1 {
		t.Errorf("%+v", z)
	}
	if other := l.Agent.Gates[1]; other.WithWait != time.Minute || other.Zone != "" {
		t.Errorf("%+v", other)
	}
}

func TestWhatCannotBeHeldTogetherIsRefused(t *testing.T) {
	hook := `hook = "/bin/sh"`
	backup := []string{"backup"}
	for want, in := range map[string]reading{
		`"g" is this gate itself`: togetherFile("", []string{"g", `with = ["g"]`}),
		`"backup" is in it twice`: togetherFile("", []string{"g", `with = ["backup", "backup"]`}, backup),
		`this host has no gate`:   togetherFile("", []string{"g", `with = ["backup"]`}),
		`names others, too (wand`: togetherFile(
			"", []string{"g", `with = ["h"]`}, []string{"h", `with = ["backup"]`}, backup),
		`held for another gate`:    togetherFile("", []string{"g", `with = ["h"]`}, []string{"h", `keep = "15m"`}),
		`ends with its agent`:      togetherFile("", []string{"g", `with = ["backup"]`, `keep = "15m"`}, backup),
		`without with or per_zone`: togetherFile("", []string{"g", `with_wait = "5m"`}),
		`set zone at the top`:      togetherFile("", []string{"g", hook, "slots = 4", "per_zone = 1"}),
		`cannot name a zone`:       togetherFile(`zone = "EU 1"`, []string{"g", hook, "slots = 4", "per_zone = 1"}),
		`does not matter with`:     togetherFile(`zone = "a"`, []string{"g", hook, "slots = 2", "per_zone = 2"}),
		`is not a setting of a gate`: togetherFile("",
			[]string{"g", hook, "slots = 2", "per_zone = 2", `zone = "a"`}),
		`strict gate anyway`: togetherFile("zone = \"a\"\nname = \"a\"",
			[]string{"g", `policy = "tree"`, `roster = ["a", "b", "c"]`, "per_zone = 1"}),
	} {
		l := in.read(t)
		if err := l.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The gates of zones count among the gates of an agent.
func TestGatesOfZonesCount(t *testing.T) {
	gates := make([][]string, 8)
	for i := range gates {
		gates[i] = []string{string(rune('a' + i)), `hook = "/bin/sh"`, "slots = 2", "per_zone = 1"}
	}
	l := togetherFile(`zone = "x"`, gates...).read(t)
	if err := l.Check(); err == nil || !strings.Contains(err.Error(), "an agent can have 15 in all") {
		t.Error(err)
	}
}

// Whoever has the token of a gate that was held for a host that has died in its soak waits for the rest of that.
func TestAGateIsKeptForTheLongestSoakOfThoseThatHoldIt(t *testing.T) {
	file := func(soak string) reading {
		return togetherFile("zone = \"x\"\nname = \"n\"",
			[]string{"s", `policy = "tree"`, `roster = ["n", "o", "p"]`, `soak = "` + soak + `"`},
			[]string{
				"a", `hook = "/bin/sh"`, "slots = 2", "per_zone = 1", `min_interval = "1h"`, `soak = "` + soak + `"`,
				`with = ["c", "d"]`,
			},
			[]string{"b", `hook = "/bin/sh"`, `soak = "2m"`, `with = ["c"]`},
			[]string{"c"}, []string{"d", `soak = "20m"`}, []string{"e"})
	}
	soaks := func(l *Layers) map[string]time.Duration {
		all := map[string]time.Duration{}
		for _, g := range l.Agent.Gates {
			switch s := g.Protocol.(type) {
			case wander.Settings:
				all[g.Name] = s.Soak
			case call.Settings:
				all[g.Name] = s.Soak
			case strict.Settings:
				all[g.Name] = s.Soak
			}
		}
		return all
	}
	l := file("10m").read(t)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	want := map[string]time.Duration{
		"a": 10 * time.Minute, "a@x": 10 * time.Minute, "b": 2 * time.Minute, "c": 10 * time.Minute,
		"d": 20 * time.Minute, "e": 0, "s": 10 * time.Minute,
	}
	if diff := cmp.Diff(want, soaks(l)); diff != "" {
		t.Error(diff)
	}
	next := file("30m").read(t)
	if err := next.Check(); err != nil {
		t.Fatal(err)
	}
	NewRunning(l).Keep(next)
	for _, name := range []string{"a", "a@x", "c", "d", "s"} {
		want[name] = 30 * time.Minute
	}
	if diff := cmp.Diff(want, soaks(next)); diff != "" {
		t.Error("after a reload:", diff)
	}
}

// A reload may change with, with_wait and the zone. The number of hosts of one zone is a number of tokens.
func TestAReloadChangesWhatARunHolds(t *testing.T) {
	const before = "zone = \"x\"\n[[gate]]\nname = \"g\"\nhook = \"/bin/sh\"\nslots = 4\nper_zone = 1\n"
	start := reread(t, before)
	running := NewRunning(start)
	next := reread(t, strings.Replace(before, `"x"`, `"y"`, 1)+"with = [\"h\"]\n[[gate]]\nname = \"h\"\n")
	changed, restart := running.Compare(next)
	if want := []string{"zone y", `gate "g": with [h]`}; len(restart) > 0 || len(changed) != 3 ||
		!strings.HasPrefix(changed[0], want[0]) || !strings.HasPrefix(changed[1], want[1]) {
		t.Errorf("%q, %q", changed, restart)
	}
	more := reread(t, strings.Replace(before, "per_zone = 1", "per_zone = 2", 1))
	if _, restart := running.Compare(more); len(restart) != 1 || !strings.Contains(restart[0], "per_zone 2") {
		t.Errorf("%q", restart)
	}
	running.Keep(more)
	if s := more.Agent.Gates[1].Protocol.(call.Settings); s.Slots != 1 {
		t.Errorf("%+v", s)
	}
}

func TestAPatternIsAGateOnCallThatRemembersNothing(t *testing.T) {
	l := togetherFile("", []string{"build-*", "slots = 2", `with = ["cache"]`}, []string{"cache"}).read(t)
	if err := l.Check(); err != nil {
		t.Fatal(err)
	}
	if g := l.Agent.Gates[0]; g.Name != "build-*" || g.Protocol.(call.Settings).Slots != 2 {
		t.Errorf("%+v", g)
	}
	for want, in := range map[string]reading{
		"run only commands of callers": togetherFile("", []string{"b-*", `hook = "/bin/sh"`}),
		"its gates are on call":        togetherFile("", []string{"b-*", `policy = "wander"`}),
		"leave min_interval out":       togetherFile("", []string{"b-*", `min_interval = "1m"`}),
		"leave keep out":               togetherFile("", []string{"b-*", `keep = "15m"`}),
		"leave per_zone out": togetherFile(
			`zone = "a"`, []string{"b-*", "slots = 2", "per_zone = 1"}),
		`"*" cannot name a gate`:                  togetherFile("", []string{"*"}),
		`"b-*-c" cannot name a gate`:              togetherFile("", []string{"b-*-c"}),
		`"b-**" cannot name a gate`:               togetherFile("", []string{"b-**"}),
		`"b-*" is a pattern: name a gate`:         togetherFile("", []string{"g", `with = ["b-*"]`}, []string{"b-*"}),
		`the gate "b-*" already exists in line 2`: togetherFile("", []string{"b-*"}, []string{"b-*"}),
	} {
		l := in.read(t)
		if err := l.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

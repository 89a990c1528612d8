package reduce

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/soft"
	"github.com/wanderd/wanderd/policy/window"
	"github.com/wanderd/wanderd/sim"
)

// fleet is a scenario as families have it.
type fleet struct {
	Seed     uint64
	Members  int
	OnLost   soft.OnLost
	Windows  *window.Set
	Network  sim.Network
	Faults   sim.Faults
	Habits   uint16
	Odd      []string
	Duration time.Duration
}

func (s *fleet) Check() error {
	return Check(Limits{"there are members": s.Members > 0, "the duration is more than 0": s.Duration > 0})
}

// crashes breaks a rule in a fleet of three or more whose members crash, 9 s after its start, with seed 3 or 77.
func crashes(s *fleet, watchers ...sim.Watcher) error {
	if s.Members > 40 {
		panic("too many")
	}
	if s.Members < 3 || s.Faults.CrashEvery == 0 || s.Duration < 9*time.Second || s.Seed != 3 && s.Seed != 77 {
		return nil
	}
	for _, w := range watchers {
		if err := w.Watch(nil, &sim.Occurrence{At: policy.Time(9 * time.Second)}); err != nil {
			return err
		}
	}
	return errors.New("overlap: two run")
}

func TestAScenarioIsMadeSmallerAsLongAsItBreaksTheSameRule(t *testing.T) {
	s := fleet{
		Seed: 77, Members: 31, OnLost: soft.Stop, Duration: 73*time.Second + 1,
		Network: sim.Network{Latency: 12345678, Loss: 0.123456, Encode: true},
		Faults:  sim.Faults{CrashEvery: 4321 * time.Millisecond, Restart: sim.Restart{At: 1, Away: 0.3}},
	}
	r := Smaller(s, crashes)
	want := fleet{
		Seed: 3, Members: 3, Duration: 9 * time.Second, Faults: sim.Faults{CrashEvery: 4 * time.Second},
	}
	if d := cmp.Diff(want, r.Scenario); d != "" || r.Rule != "overlap" {
		t.Errorf("%q: %s", r.Rule, d)
	}
	const text = `# overlap: two run
# Made smaller in %d runs, from 31 members, 1m13.000000001s and 7 other parameters.
hunted = "test"
seed = 3
members = 3
duration = "9s"

[faults]
crash_every = "4s"
`
	if d := cmp.Diff(fmt.Sprintf(text, r.Runs), r.Text("test")); d != "" {
		t.Error(d)
	}
	s.Members = 50
	if r := Smaller(s, crashes); r.Rule != "panic" || r.Scenario.Members != 50/2 && r.Scenario.Members < 41 {
		t.Errorf("a panic is a broken rule, too: %+v", r)
	}
	s.Members = 2
	if r := Smaller(s, crashes); r.Err != nil || r.Scenario.Members != 2 {
		t.Errorf("nothing is made smaller that breaks no rule: %+v", r)
	}
}

func TestEveryValueOfAFileIsBounded(t *testing.T) {
	const good = "hunted = \"test\"\nmembers = 2\nduration = \"1s\"\n"
	for text, want := range map[string]string{
		"":                                 "",
		"windows = [\"00:05-00:10 UTC\"]":  "",
		"on_lost = \"stop\"\nhabits = 9":   "",
		"[network]\nloss = 1":              "",
		"nodes = 3":                        "nodes: no such parameter",
		"[network]\nlatncy = \"1s\"":       "network.latncy: no such parameter",
		"network = 3":                      "network: a table where",
		"[members_]":                       "members_: no such parameter",
		"habits = 65536":                   "habits: write a whole number from 0 to 65535",
		"seed = -1":                        "seed: write a whole number from 0 on",
		"seed = 1.5":                       "seed: write a whole number",
		"on_lost = \"go\"":                 `on_lost: write one of ["finish" "stop"]`,
		"on_lost = 1":                      "on_lost: write one of",
		"odd = [\"a\"]":                    "odd: a []string cannot be written in a file",
		"windows = []":                     "windows: write from 1 to 100 windows",
		"windows = [\"00:05-00:10 Mars\"]": `"Mars" is not a zone of a world: write UTC, or an offset`,
		"windows = [\"00:05-00:10\"]":      `"Local" is not a zone of a world`,
		"windows = [3]":                    "is not a window",
		"[network]\nlatency = \"-1s\"":     "network.latency: write a duration from 0s to",
		"[network]\nlatency = \"1001h\"":   "network.latency: write a duration",
		"[network]\nlatency = 3":           "network.latency: write a duration",
		"[network]\nloss = nan":            "network.loss: write a number from 0 to 100",
		"[network]\nloss = 101.0":          "network.loss: write a number",
		"[network]\ntogether = 1":          "network.together: write true or false",
		"[faults]\ncut_parts = 1001":       "faults.cut_parts: write a whole number from 0 to 1000",
	} {
		content, err := Decode(good + text)
		if err != nil || Kind(content) != "test" {
			t.Fatal(text, err)
		}
		var s fleet
		if err = Read(content, &s); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	var s fleet
	if err := Read(map[string]any{"members": int64(2)}, &s); err == nil ||
		!strings.Contains(err.Error(), "the duration is more than 0") {
		t.Errorf("a scenario that is not fit for a run: %v", err)
	}
}

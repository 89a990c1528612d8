package main

import (
	"strings"
	"testing"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/cli"
)

// A directive to all gates of the fleet reports on how many hosts each gate obeys, and names the hosts that do not
// answer.
func TestADirectiveToAllGatesSaysWhoObeys(t *testing.T) {
	status := func(gates ...string) *control.Status {
		s := &control.Status{}
		for _, name := range gates {
			s.Gates = append(s.Gates, control.Gate{Name: name, Paused: &control.Pause{By: "alice@m1"}})
		}
		return s
	}
	src := told{fleet: control.Fleet{Members: []control.FleetMember{
		{Member: control.Member{Name: "m1", Self: true}, Status: status("a")},
		{Member: control.Member{Name: "m2"}, Status: status("a", "b")},
		{Member: control.Member{Name: "m3", Member: "33", Address: "10.0.0.3:7946"}, Missing: "did not answer in time"},
	}}}
	const want = "gate a is paused on 2 hosts\ngate b is paused on 1 host\nmissing: m3 (33) at 10.0.0.3:7946: did " +
		"not answer in time\n"
	if out := ask(t, src, "pause", "--all-gates"); out != want {
		t.Errorf("%q, want %q", out, want)
	}
	if late := disobey(&src.fleet, "a", false); strings.Join(late, " ") != "m1 m2" {
		t.Errorf("%v are not resumed", late)
	}
	for _, flag := range []string{"--gate=a", "--here"} {
		if code, out := askCode(t, src, "pause", "--all-gates", flag); code == cli.ExitOK {
			t.Errorf("with %s: %s", flag, out)
		}
	}
}

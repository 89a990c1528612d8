package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/cli"
)

func TestAPauseSaysUntilWhenByWhomSinceWhenAndWhy(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	ended := control.Pause{
		By: "alice@a", Since: now.Add(-time.Hour), Until: now.Add(time.Hour), Reason: "the mirror is down",
	}
	ever := control.Pause{By: "b\x1b[31m", Since: now.Add(-48 * time.Hour)}
	for want, g := range map[string]control.Gate{
		"is not paused": {},
		"is paused on all hosts until 13:00:00, by alice@a at 11:00:00: the mirror is down": {
			Paused: &ended,
		},
		"is paused on this host until somebody resumes it, by b\uFFFD[31m at 2026-11-20 12:00:00": {
			PausedHere: &ever,
		},
		"is paused on all hosts until 13:00:00, by alice@a at 11:00:00: the mirror is down; and on this": {
			Paused: &ended, PausedHere: &ever,
		},
	} {
		if got := pausedText(&g, now); !strings.HasPrefix(got, want) || g.PausedHere == nil && got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestAPauseThatCannotLastIsAMistakeOfTheCommandLine(t *testing.T) {
	for _, lasts := range []string{"0s", "-1h", "soon", "10"} {
		var out bytes.Buffer
		p := program{stdout: &out, stderr: &out, now: time.Now}
		if code := p.run(t.Context(), []string{"pause", "--for=" + lasts}); code != cli.ExitUsage ||
			!strings.Contains(out.String(), "--for "+lasts) {
			t.Errorf("--for %s: %d, %q", lasts, code, out.String())
		}
	}
}

func TestAReasonThatIsTooLongIsAMistakeOfTheCommandLine(t *testing.T) {
	for _, command := range []string{"pause", "resume"} {
		var out bytes.Buffer
		p := program{stdout: &out, stderr: &out, now: time.Now}
		code := p.run(t.Context(), []string{command, "--reason", strings.Repeat("x", 201)})
		if code != cli.ExitUsage || !strings.Contains(out.String(), "--reason has 201 bytes, and 200 are allowed") {
			t.Errorf("%s: %d, %q", command, code, out.String())
		}
	}
}

// A user who resumes one kind of pause hears how to end the other, and one who wants a run hears that it waits.
func TestAPauseThatGoesOnIsToldWithItsRemedy(t *testing.T) {
	pause := &control.Pause{By: "alice@a", Since: noon()}
	paused := "is paused on all hosts until somebody resumes it, by alice@a at 12:00:00"
	here := "is paused on this host until somebody resumes it, by alice@a at 12:00:00"
	for _, c := range []struct {
		gate control.Gate
		args []string
		want string
	}{
		{control.Gate{Paused: pause}, []string{"pause"}, "gate g " + paused + "\n"},
		{control.Gate{Paused: pause}, []string{"resume", "--here"}, "gate g " + paused +
			"; \"wanderd resume\" ends that\n"},
		{control.Gate{PausedHere: pause}, []string{"resume"}, "gate g " + here +
			"; \"wanderd resume --here\" ends that\n"},
		{control.Gate{PausedHere: pause}, []string{"run"}, "gate g " + here + "; the run waits until the pause ends\n"},
		{control.Gate{}, []string{"run"}, ""},
		{control.Gate{}, []string{"resume"}, "gate g was not paused: there was nothing to resume\n"},
		{
			control.Gate{Facts: []control.Fact{{Name: "claimed", MemberName: "a"}}},
			[]string{"resume"},
			"gate g was not paused; the interval of the run of a is over\n",
		},
		{control.Gate{Failing: []control.Failing{{Host: "a", Exit: 1}}}, []string{"resume"}, "gate g is not paused\n"},
	} {
		c.gate.Name = "g"
		out, errs := askBoth(t, told{status: control.Status{Gates: []control.Gate{c.gate}}}, c.args...)
		if got := out + errs; got != c.want {
			t.Errorf("%v: %q, want %q", c.args, got, c.want)
		}
	}
}

func TestRenewReportsHowManyTokensWereMade(t *testing.T) {
	out, errs := askBoth(t, told{}, "gate", "renew", "--gate", "g")
	if want := "gate g: made 2 new tokens; see \"wanderd status\"\n"; out != want || errs != "" {
		t.Errorf("%q, %q; want %q", out, errs, want)
	}
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/cli"
)

// well is a host without problems. It has a gate that is not due, one that has been due for a lap, one that is paused
// until tomorrow, one on demand that no caller wants, and a member that left.
func well() told {
	now := noon()
	return told{
		status: control.Status{Members: 2, Gates: []control.Gate{
			{
				Name: "a", State: control.Absent, Because: control.BecauseNotDue, NextRun: now.Add(time.Hour),
				SilentSince: now.Add(-time.Minute), MaxInterval: control.Duration(time.Hour),
				LastExit: control.ExitNotNow,
				Kept:     []control.Kept{{Member: "77", AwaySince: now.Add(-time.Minute)}},
			},
			{
				Name: "b", State: control.Absent, Because: control.BecauseWaiting, DueSince: now.Add(-time.Hour),
				Lap: control.Duration(time.Hour), LapsWaited: 1,
			},
			{
				Name: "c", State: "resting", Because: control.BecausePaused,
				Paused:      &control.Pause{By: "alice@a", Until: now.Add(24 * time.Hour)},
				SavingSince: now.Add(-time.Second),
			},
			{
				Name: "d", State: control.Absent, Because: control.BecauseUnwanted,
				Ready: &control.Ready{Answer: control.AnswerNo},
			},
			{
				Name: "e", State: control.Absent, Because: control.BecauseWaiting, DueSince: now.Add(-time.Hour),
				MinInterval: control.Duration(time.Hour),
			},
		}, Warnings: []control.Warning{{Text: "an old sign", Last: now.Add(-time.Hour)}}},
		members: control.Members{Members: []control.Member{
			{Name: "x", State: "alive", Self: true},
			{Name: "y", State: "left", Since: now.Add(-time.Minute)},
			{Name: "z", State: "failed", Since: now.Add(-25 * time.Hour)},
			{Name: "w", Member: "77", State: "failed", Since: now.Add(-time.Minute)},
		}},
	}
}

// "status --check" prints nothing about a host that is well, one line for each problem of one that is not, and exits
// accordingly.
func TestACheckHasALineForEachProblem(t *testing.T) {
	if out := ask(t, well(), "status", "--check"); out != "ok: 5 gates, 2 members\n" {
		t.Errorf("a host that is well: %q", out)
	}
	now := noon()
	gate := func(change func(*control.Gate)) func(*told) {
		return func(src *told) { change(&src.status.Gates[1]) }
	}
	for want, change := range map[string]func(*told){
		"a member has another secret": func(src *told) {
			src.status.Warnings[0] = control.Warning{Text: "a member has another secret", Last: now}
		},
		"y at 1 takes no token\ufffd": func(src *told) {
			src.status.Warnings[0] = control.Warning{Text: "y at 1 takes no token\x1b"}
		},
		"z (12345678) at 10.0.0.9:7946 failed 2h ago (10:00:00): start its agent": func(src *told) {
			src.members.Members[2] = control.Member{
				Name: "z", Member: "1234567890", Address: "10.0.0.9:7946",
				State: "failed", Since: now.Add(-2 * time.Hour),
			}
		},
		"gate b: closed: a defect": gate(func(g *control.Gate) { g.State, g.NotRunning = control.Closed, "a defect" }),
		"gate b: a fault has closed it": func(src *told) {
			src.status.Gates[1].State, src.status.Gates[1].NotRunning = control.Closed, "a fault"
			src.status.Warnings = append(src.status.Warnings,
				control.Warning{Gate: "b", Text: "gate b: a fault has closed it"})
		},
		"gate b: does not run: no majority: sees b": gate(func(g *control.Gate) {
			g.Because, g.NotRunning = control.BecauseNoMajority, "no majority: sees b"
		}),
		"gate b: does not run: has not seen any other member": gate(func(g *control.Gate) {
			g.Because, g.NotRunning = control.BecauseAlone, "has not seen any other member"
		}),
		"gate b: no token seen for 2h (since 10:00:00), which is longer than max_interval": gate(func(g *control.Gate) {
			g.SilentSince, g.MaxInterval = now.Add(-2*time.Hour), control.Duration(time.Hour)
		}),
		"gate b: due, waiting for the token, for 3h (3.0 laps): the host does not get its turn": gate(
			func(g *control.Gate) {
				g.NotRunning, g.DueSince, g.LapsWaited = "due, waiting for the token", now.Add(-3*time.Hour), 3
			}),
		"gate b: due, for 3h: the host does not get its turn": gate(func(g *control.Gate) {
			g.NotRunning, g.DueSince, g.Lap, g.LapsWaited, g.MinInterval = "due", now.Add(-3*time.Hour), 0, 0,
				control.Duration(time.Hour)
		}),
		"gate b: the start of a run cannot be recorded: no space": gate(func(g *control.Gate) {
			g.SaveError = "no space"
		}),
		"gate b: the disk has been saving for 1m": gate(func(g *control.Gate) {
			g.SavingSince = now.Add(-time.Minute)
		}),
		"gate b: the last run failed 1m ago (11:59:00): exit status 3": gate(func(g *control.Gate) {
			g.LastExit, g.LastRun = "exit status 3", now.Add(-time.Minute)
		}),
		"gate b: ready has failed 1m ago (11:59:00): exit status 3": gate(func(g *control.Gate) {
			g.Ready = &control.Ready{Answer: control.AnswerError, Error: "exit status 3", At: now.Add(-time.Minute)}
		}),
		"gate b: paused until somebody resumes it, by stop_after@a at 12:00:00: 3 hosts failed": gate(
			func(g *control.Gate) {
				g.Paused = &control.Pause{By: "stop_after@a", Since: now, Reason: "3 hosts failed"}
			}),
		"gate b: a lap takes an hour": gate(func(g *control.Gate) { g.TooShort = "a lap takes an hour" }),
		"gate b: lease is too short for this network: set it to 9s": gate(func(g *control.Gate) {
			g.Facts = []control.Fact{{Name: "least_lease", For: control.Duration(9 * time.Second)}}
		}),
		"gate b: skip is too short for this network: set it to 3s": gate(func(g *control.Gate) {
			g.Facts = []control.Fact{{Name: "least_skip", For: control.Duration(3 * time.Second)}}
		}),
	} {
		src := well()
		change(&src)
		code, out := askCode(t, src, "status", "--check")
		if code != exitUnwell || !strings.HasPrefix(out, want) || strings.Count(out, "\n") != 1 {
			t.Errorf("%d, %q; want %q", code, out, want)
		}
	}
}

// shortDir is a directory with a short path, as that of a socket must be.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wd") //nolint:usetesting // its paths contain the test name and are too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// askCode is ask for a command that may fail, and returns its code.
func askCode(t *testing.T, src told, args ...string) (code int, said string) {
	t.Helper()
	socket := filepath.Join(shortDir(t), "s")
	server, err := control.Serve(socket, "", src, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	var out bytes.Buffer
	p := program{stdout: &out, stderr: &out, now: noon}
	return p.run(t.Context(), append(args, "--socket", socket)), out.String()
}

// An agent that does not answer is a problem, too; and JSON has the problems as a list.
func TestACheckWithoutAnAgentIsAProblem(t *testing.T) {
	var out bytes.Buffer
	p := program{stdout: &out, stderr: &out, now: noon}
	code := p.run(t.Context(), []string{"status", "--check", "--socket", filepath.Join(shortDir(t), "none")})
	if code != exitUnwell || strings.Count(out.String(), "\n") != 1 ||
		!strings.Contains(out.String(), "start one with") {
		t.Errorf("%d, %q", code, out.String())
	}
	if out := ask(t, well(), "status", "--check", "--json"); !strings.Contains(out, `"problems": []`) {
		t.Errorf("no problems: %s", out)
	}
	src := well()
	src.status.Gates[0].SaveError = "no space"
	if code, out := askCode(t, src, "status", "--check", "--json"); code != exitUnwell ||
		!strings.Contains(out, `"gate": "a"`) {
		t.Errorf("a problem: %d, %s", code, out)
	}
}

// With --gate a status, the status of a fleet and a check concern one gate.
func TestAStatusOfOneGate(t *testing.T) {
	src := well()
	src.status.Gates[0].SaveError = "no space"
	src.fleet = control.Fleet{Members: []control.FleetMember{{Member: control.Member{Name: "x"}, Status: &src.status}}}
	for _, args := range [][]string{{"status"}, {"status", "--json"}} {
		if out := ask(t, src, append(args, "--gate", "b")...); strings.Contains(out, "no space") ||
			strings.Contains(out, "gate c") || strings.Contains(out, `"c"`) {
			t.Errorf("%v: %s", args, out)
		}
	}
	if out := ask(t, src, "status", "--fleet", "--gate", "b"); !strings.Contains(out, "gate b\n") ||
		strings.Contains(out, "gate a\n") {
		t.Errorf("of the fleet: %s", out)
	}
	if out := ask(t, src, "status", "--check", "--gate", "b"); out != "ok: 1 gate, 2 members\n" {
		t.Errorf("a check of a gate that is well: %q", out)
	}
	src.status.Warnings = append(src.status.Warnings, control.Warning{Gate: "a", Text: "gate a: c was never seen"})
	if out := ask(t, src, "status", "--check", "--gate", "b"); !strings.HasPrefix(out, "ok") {
		t.Errorf("a check of a gate that is well, beside one that is not: %q", out)
	}
	code, out := askCode(t, src, "status", "--gate", "f")
	if want := fmt.Sprintf("wanderd: this host takes no part in a gate %q; its gates are a, b, c, d, e\n",
		"f"); code != cli.ExitUsage || out != want {
		t.Errorf("%d, %q", code, out)
	}
}

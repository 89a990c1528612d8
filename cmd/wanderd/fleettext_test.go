package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/cmd/wanderd/follow"
)

// refuse runs a command with an agent that answers from src, and returns the text of its refusal.
func refuse(t *testing.T, src told, args ...string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "wd") //nolint:usetesting // its paths contain the test name and are too long
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	socket := filepath.Join(dir, "s")
	server, err := control.Serve(socket, "", src, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	var out bytes.Buffer
	p := program{stdout: &out, stderr: &out, now: noon}
	if code := p.run(t.Context(), append(args, "--socket", socket)); code != cli.ExitUsage {
		t.Errorf("exit code %d", code)
	}
	return out.String()
}

// crew is a fleet of five members, of which three answer.
func crew() told {
	now := noon()
	member := func(name, id string) control.Member {
		return control.Member{
			Name: name, Member: id + "00000000", Address: "10.0.0." + name[1:] + ":7946", State: "alive",
		}
	}
	sync := func(g control.Gate) *control.Status {
		g.Name = "sync"
		return &control.Status{Gates: []control.Gate{g}}
	}
	self := member("m2", "22222222")
	self.Self = true
	return told{fleet: control.Fleet{
		Asked: now, Took: control.Duration(43 * time.Millisecond),
		Members: []control.FleetMember{
			{Member: member("m1", "11111111"), Status: sync(control.Gate{
				LastRun: now.Add(-20 * time.Minute), LastExit: "exit status 2",
				LastTook: control.Duration(3 * time.Second),
				NextRun:  now.Add(-10 * time.Minute), NotRunning: "due, waiting for the token",
			})},
			{Member: self, Status: sync(control.Gate{
				LastRun: now.Add(-5 * time.Minute), LastExit: "ok", LastTook: control.Duration(1500 * time.Millisecond),
				NextRun: now.Add(5 * time.Minute), NotRunning: "ran less than min_interval ago",
			})},
			{Member: member("m3", "33333333"), Status: &control.Status{Gates: []control.Gate{
				{Name: "sync", Running: true, LastRun: now.Add(-12 * time.Second), NextRun: now.Add(9 * time.Minute)},
				{Name: "backup", NotRunning: "nobody here waits for a run"},
			}}},
			{Member: member("m4", "44444444"), Missing: "did not answer in time"},
			{Member: control.Member{Name: "evil\x1b[2J", Member: "55", Address: "10.0.0.5:7946"}, Missing: "failed"},
		},
		Now: control.Now{Tokens: []control.Holder{
			{Gate: "backup", Name: "m4", Member: "4444444400000000", Seq: 3, Missing: "did not answer in time"},
			{
				Gate: "sync", Name: "m3", Member: "3333333300000000", Seq: 42, Since: now.Add(-13 * time.Second),
				Running: true, RunningSince: now.Add(-12 * time.Second),
			},
		}},
	}}
}

func TestAFleetForPeople(t *testing.T) {
	want := `5 members, 3 answered within 43ms
missing: m4 (44444444) at 10.0.0.4:7946: did not answer in time
missing: evil�[2J (55) at 10.0.0.5:7946: failed

gate backup
  holder       not known: m4 (44444444), the last known holder, did not answer in time
  runs now     not known
  NAME  LAST RUN  TOOK  RESULT  NEXT RUN        NOW
  m3    never     -     -       with the token  nobody here waits for a run

gate sync
  holder       m3 (33333333), for 13s (since 11:59:47), number 42
  runs now     m3, for 12s (since 11:59:48)
  failed last  m1, 20m ago (11:40:00), after 3s: exit status 2
  NAME            LAST RUN  TOOK  RESULT         NEXT RUN        NOW
  m1              11:40:00  3s    exit status 2  with the token  due, waiting for the token
  m2 (this host)  11:55:00  1.5s  ok             in 5m           ran less than min_interval ago
  m3              11:59:48  -     -              in 9m           runs for 12s (since 11:59:48)
`
	if diff := cmp.Diff(want, ask(t, crew(), "status", "--fleet")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A host that has its token, and waits for another gate or for its zone, stands among those that are looked for first.
func TestAFleetSaysWhoWaitsForAnotherGate(t *testing.T) {
	src := crew()
	since := noon().Add(-12 * time.Second)
	for i, waits := range []control.Together{
		{WaitsFor: "backup", WaitsSince: since},
		{WaitsFor: "sync@eu-1a", WaitsZone: "eu-1a", WaitsSince: since},
	} {
		g := &src.fleet.Members[i].Status.Gates[0]
		g.Together, g.NotRunning, g.Because = waits, "has the token, and waits", control.BecauseOthers
	}
	text := ask(t, src, "status", "--fleet")
	const want = "  waits        m1: waits for gate backup, for 12s (since 11:59:48)\n" +
		"  waits        m2: zone eu-1a is busy, for 12s (since 11:59:48)\n"
	if strings.Count(text, "  waits  ") != 2 || !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

func TestTheDocumentsOfAFleetAreAllThere(t *testing.T) {
	var got control.Fleet
	if err := json.Unmarshal([]byte(ask(t, crew(), "status", "--fleet", "--json")), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(crew().fleet, got); diff != "" {
		t.Error(diff)
	}
}

// The holder that has answered replaces the one that this host knew.
func TestTheStatusOfAHostSaysWhoRunsNow(t *testing.T) {
	src := busy()
	src.now = control.Now{Tokens: []control.Holder{
		{Gate: "default", Name: "m3", Member: "3333333300000000", Seq: 43, Since: noon().
			Add(-2 * time.Second), Running: true, RunningSince: noon().Add(-time.Second)},
		{Gate: "wide", Slot: 0, Name: "m4", Member: "4444444400000000", Seq: 8, Since: noon(), Running: false},
		{
			Gate: "wide", Slot: 1, Name: "m1", Member: "3f2a91bc00000000", Seq: 9, Since: noon(), Running: true,
			Command: "rsync", RunningSince: noon(),
		},
	}}
	text := ask(t, src, "status")
	for _, want := range []string{
		"  holder       m3 (33333333), for 2s (since 11:59:58), number 43\n",
		"  runs now     m3, for 1s (since 11:59:59)\n",
		"  slot 0       m4 (44444444), for 0s", "  runs now     m1: rsync, for 0s",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestTheHistoryOfAFleetForPeople(t *testing.T) {
	now := noon()
	src := told{runs: control.FleetHistory{Members: []control.MemberHistory{
		{
			Member: control.Member{Name: "m1"},
			History: &control.History{Gates: []control.GateHistory{{Name: "sync", Omitted: 7, Runs: []history.Run{
				{Start: now.Add(-time.Hour), End: now.Add(-59 * time.Minute), Seq: 7},
				{Start: now.Add(-time.Minute), Seq: 9},
			}}}},
		},
		{
			Member: control.Member{Name: "m2"},
			History: &control.History{Gates: []control.GateHistory{{Name: "sync", Runs: []history.Run{
				{
					Start: now.Add(-30 * time.Minute), End: now.Add(-29 * time.Minute), Seq: 8, Exit: 3,
					Error: "exit status 3", Output: []string{"no space\x1b"}, Command: "rsync",
				},
			}}}},
		},
		{
			Member:  control.Member{Name: "m3", Member: "33333333", Address: "10.0.0.3:7946"},
			Missing: "connection refused",
		},
	}}}
	want := `m1: 7 older runs of gate sync left out, because there are too many: use --since
missing: m3 (33333333) at 10.0.0.3:7946: connection refused
gate sync: 3 runs
  began                took          exit  cut short    number      host
  11:00:00             1m            0     -            7           m1
  11:30:00             1m            3     -            8           m2: rsync
      exit status 3
      | no space�
  11:59:00             1m so far     -     -            9           m1
`
	if diff := cmp.Diff(want, ask(t, src, "history", "--fleet")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if text := ask(t, src, "history", "--fleet", "--failed", "--since", "45m"); !strings.Contains(text, "m2: rsync") ||
		strings.Contains(text, "11:00:00") {
		t.Error(text)
	}
}

// rowOf returns the row of a member that has reported its gate.
func rowOf(g *control.Gate) follow.Row {
	return follow.NewRow(&control.FleetMember{Member: control.Member{Name: "m1"}}, g)
}

// A gate that does not wait for the token does not run with it: it is paused, or its disk is broken.
func TestTheViewShowsTheHostThatRunsWithTheToken(t *testing.T) {
	for because, want := range map[control.Because]string{
		"": "with the token", control.BecauseWaiting: "with the token", control.BecausePaused: "-",
		control.BecauseDisk: "-", control.BecauseUnwanted: "-",
	} {
		g := control.Gate{Name: "sync", Because: because, NotRunning: "x"}
		rows := []follow.Row{rowOf(&g)}
		if next := rowText(&rows[0], noon())[3]; next != want {
			t.Errorf("%q: next run %q, want %q", because, next, want)
		}
		if got := nextText(rows, noon()); (got == "nobody") != (want == "-") {
			t.Errorf("%q: next is %q", because, got)
		}
	}
}

// A hook that answered "not now" has not failed: neither the fleet's status nor a watch of it reports a failure.
func TestNotNowIsShownAsNoFailure(t *testing.T) {
	g := control.Gate{Name: "sync", LastRun: noon(), LastExit: control.ExitNotNow}
	seen := crewSeen()
	seen.Tokens = nil
	seen.Fleet = &control.Fleet{Members: []control.FleetMember{
		{Member: control.Member{Name: "m1"}, Status: &control.Status{Gates: []control.Gate{g}}},
	}}
	if failed := follow.LastFailure(seen.Rows("sync")); failed != nil {
		t.Errorf("it has failed: %+v", failed)
	}
	var out strings.Builder
	l := watchLines{out: &out, zone: noon().Location(), said: make(map[string]string)}
	if l.tell(seen); strings.Contains(out.String(), "failed") {
		t.Errorf("%s", out.String())
	}
}

// A caller's command concerns only the caller, and is no run of the hook. Only in a gate without a hook does a table
// have nothing else to show.
func TestACallersCommandIsShownApartFromTheHook(t *testing.T) {
	now := noon()
	g := control.Gate{
		Name: "sync", LastRun: now.Add(-time.Hour), LastExit: control.ExitOK, LastTook: control.Duration(time.Minute),
		Runs: 7, Commands: 3,
		LastCommand: &control.CommandEnd{
			Command: "sh", Began: now.Add(-time.Minute),
			Took: control.Duration(3 * time.Millisecond), Exit: "exit status 9",
		},
	}
	text := func() string {
		return statusText(control.Status{Gates: []control.Gate{g}}, now)
	}
	for _, want := range []string{
		"last run     1h ago (11:00:00), took 1m, ok\n", "runs         7, of which 0 failed\n",
		"commands     3 of callers; the last: sh, 1m ago (11:59:00), took 3ms, exit status 9\n",
	} {
		if !strings.Contains(text(), want) {
			t.Errorf("no %q in\n%s", want, text())
		}
	}
	r := rowOf(&g)
	if row := rowText(&r, now); row[1] != "1m" || row[2] != "ok" || g.FailedLast() {
		t.Errorf("%q", row)
	}
	g.LastExit, g.LastTook, g.Runs, g.OnDemand = "", 0, 0, true
	r = rowOf(&g)
	if row := rowText(&r, now); row[1] != "3ms" || row[2] != "sh: exit status 9" ||
		strings.Contains(text(), "runs  ") || g.FailedLast() {
		t.Errorf("on demand: %q in\n%s", row, text())
	}
}

// A status says whose grants outlive their hosts, and who is away; the status of a fleet says it once.
func TestAStatusSaysWhoseGrantOutlivesItsHost(t *testing.T) {
	now := noon()
	const waits = "; the others wait for it until 12:15:00, and longer while it is heard"
	until, gone := now.Add(15*time.Minute), now.Add(-5*time.Minute)
	for want, k := range map[string]control.Kept{
		"the grant of web3 outlives its host" + waits: {},
		"the grant of this host: it outlives the host" + waits: {
			Self: true,
		},
		"the grant of this host: its client may reboot" + waits: {
			Self: true, State: "its client may reboot",
		},
		"web3 is away for 5m (since 11:55:00); the others wait for it until 12:15:00": {AwaySince: gone},
		"web3 is back for 1m (since 11:59:00), and has not handed its grant back yet; it was away for 4m": {
			AwaySince: gone, BackSince: now.Add(-time.Minute),
		},
		"the grant of this host: its run keeps it until 12:05:00, beyond its end (a new kernel)" + waits: {
			Self: true, Beyond: now.Add(5 * time.Minute), Reason: "a new kernel",
		},
		"web3 is away for 5m (since 11:55:00); the others have waited for it until 11:59:00, and go on when one of " +
			"them wants to run": {AwaySince: gone, Until: now.Add(-time.Minute)},
	} {
		if k.Name = "web3"; k.Until.IsZero() {
			k.Until = until
		}
		g := control.Gate{Name: "reboot", Kept: []control.Kept{k}}
		text := statusText(control.Status{Gates: []control.Gate{g}}, now)
		if !strings.Contains(text, "  kept         "+want+"\n") {
			t.Errorf("no %q in\n%s", want, text)
		}
		f := &control.Fleet{Members: []control.FleetMember{
			{Member: control.Member{Name: "web1"}, Status: &control.Status{Gates: []control.Gate{g}}},
			{Member: control.Member{Name: "web2"}, Status: &control.Status{Gates: []control.Gate{g}}},
		}}
		text = fleetText(f, now)
		switch {
		case strings.Count(text, "  away         "+want+"\n") == 1 != !k.AwaySince.IsZero():
			t.Errorf("of the whole fleet:\n%s", text)
		case strings.Count(text, k.State+"\n") < 2 && k.State != "":
			t.Errorf("nobody says %q:\n%s", k.State, text)
		}
	}
}

// The status of a fleet says of a member that is looked after what it waits for, and not that it runs.
func TestTheStatusOfAFleetSaysWhoSoaks(t *testing.T) {
	now := noon()
	for want, care := range map[string]*control.Care{
		"soaking for another 10m (until 12:10:00)": {SoakUntil: now.Add(10 * time.Minute)},
		"after is being asked":                     {},
		"after said, 1m ago (11:59:00): not yet":   {Answer: "not yet", At: now.Add(-time.Minute), SoakUntil: now},
		"runs for 1m (since 11:59:00)":             nil,
	} {
		g := control.Gate{Name: "upgrade", Running: true, LastRun: now.Add(-time.Minute), Care: care}
		f := &control.Fleet{Members: []control.FleetMember{
			{Member: control.Member{Name: "web1"}, Status: &control.Status{Gates: []control.Gate{g}}},
		}}
		if text := fleetText(f, now); !strings.Contains(text, "  "+want+"\n") {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

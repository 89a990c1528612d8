package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/cli"
	"github.com/wanderd/wanderd/wire"
)

// noon is the present time in tests.
func noon() time.Time { return time.Date(2026, 2, 3, 12, 0, 0, 0, time.FixedZone("", 3600)) }

// told is a source with fixed answers.
type told struct {
	status  control.Status
	members control.Members
	history control.History
	now     control.Now
	fleet   control.Fleet
	runs    control.FleetHistory
}

func (s told) Status(context.Context) (control.Status, error)       { return s.status, nil }
func (s told) Members(context.Context) (control.Members, error)     { return s.members, nil }
func (told) Drain(context.Context) error                            { return nil }
func (told) Reload(context.Context) (control.Reloaded, error)       { return control.Reloaded{}, nil }
func (told) GiveDirective(context.Context, control.Directive) error { return nil }
func (told) RunNow(context.Context, control.RunNow) (control.RunEnd, error) {
	return control.RunEnd{}, nil
}

func (told) Forget(_ context.Context, forget control.Forget) (control.Forgot, error) {
	return control.Forgot{Already: forget.Name == "web3", Members: []string{strings.Repeat("0", 31) + "4"}}, nil
}

func (told) Keep(context.Context, control.Keep) error { return nil }

func (told) Renew(_ context.Context, renew control.Renew) (control.Renewed, error) {
	return control.Renewed{Gate: renew.Gate, Slots: []int{0, 2}}, nil
}
func (told) Metrics() http.Handler                              { return http.NotFoundHandler() }
func (told) Exec(control.ExecRequest, io.ReadWriter) error      { return nil }
func (s told) History(context.Context) (control.History, error) { return s.history, nil }
func (s told) Now(context.Context) (control.Now, error)         { return s.now, nil }
func (s told) Fleet(context.Context) (control.Fleet, error)     { return s.fleet, nil }
func (s told) FleetHistory(_ context.Context, which control.Which) (control.FleetHistory, error) {
	runs := s.runs
	runs.Members = slices.Clone(runs.Members)
	for i := range runs.Members {
		if h := runs.Members[i].History; h != nil {
			kept := which.From(control.History{Gates: slices.Clone(h.Gates)})
			runs.Members[i].History = &kept
		}
	}
	return runs, nil
}

// ask runs a command with an agent that answers from src.
func ask(t *testing.T, src told, args ...string) string {
	t.Helper()
	out, _ := askBoth(t, src, args...)
	return out
}

// askBoth is ask, and also returns the command's messages.
func askBoth(t *testing.T, src told, args ...string) (said, besides string) {
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
	var out, errs bytes.Buffer
	p := program{stdout: &out, stderr: &errs, now: noon}
	if code := p.run(t.Context(), append(args, "--socket", socket)); code != cli.ExitOK {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	return out.String(), errs.String()
}

func busy() told {
	now := noon()
	return told{
		status: control.Status{
			Version: "v1.2.3", Name: "m1", Member: "3f2a91bc00000000", Address: "10.0.0.1:7946",
			Started: now.Add(-50*time.Hour - time.Minute),
			Sealed:  true, Members: 3, Dropped: map[string]uint64{"unexpected": 2, "malformed": 12, "oversized": 0},
			Gossip: map[string]uint64{"same_key": 1, "of_a_newer_agent": 1},
			Warnings: []control.Warning{
				{
					Text:  "dropped a message that another secret sealed: all members need the same --secret-file",
					Count: 3,
					Last:  now.Add(-8 * time.Second), From: "10.0.0.9:7946",
				},
				{Text: "evil\x1b[2J"},
			},
			Gates: []control.Gate{
				{
					Name: "default", Policy: "wander", Walk: "sweep", State: "absent", Members: 3, Slots: 1,
					Whereabouts: control.Whereabouts{
						Holder: "9c1d22e000000000", HolderName: "m2", HolderSince: now.Add(-12 * time.Second),
						Token: "791bbce3.fb07cf09", Seq: 42,
					},
					NotRunning: "ran less than min_interval ago", LastRun: now.Add(-252 * time.Second), LastExit: "ok",
					LastTook: control.Duration(3210987654), NextRun: now.Add(348 * time.Second), Runs: 17, Failures: 1,
					Skip: control.Duration(time.Second), Op: control.Duration(4 * time.Second),
					MinInterval: control.Duration(10 * time.Minute), MaxInterval: control.Duration(30 * time.Minute),
					RegenerateAfter: control.Duration(45 * time.Minute), RegenerateAt: now.Add(44 * time.Minute),
					Load:    0.02,
					Backups: 2, OnLost: "finish",
					OpSource: "measured", MaxIntervalRule: "3 × min_interval",
				},
				{
					Name: "cache", Policy: "wander", State: "running", Members: 1, Slots: 1, Running: true,
					Whereabouts: control.Whereabouts{
						Holding: true, Holder: "3f2a91bc00000000", HolderName: "m1",
						HolderSince: now.Add(-25 * time.Hour),
						Guardians: []control.Guardian{
							{Member: "9c1d22e000000000", Name: "m2"}, {Member: "00", Name: "evil\x1b[2J"},
						},
						Token: "0badcafe.00000001", Seq: 1 << 32,
					},
					LastRun: now.Add(-90 * time.Second), NextRun: now.Add(13*time.Hour - 90*time.Second), Runs: 2,
					Op: control.Duration(time.Hour), MinInterval: control.Duration(30 * time.Minute),
					RegenerateAfter: control.Duration(90 * time.Minute), Load: 2, Backups: 1, OnLost: "stop",
				},
				{
					Name: "new", Policy: "wander", State: "absent", Members: 2, SilentSince: now.Add(-80 * time.Hour),
					MaxInterval: control.Duration(72 * time.Hour), NotRunning: "due, waiting for the token",
					Op: control.Duration(4 * time.Second), MinInterval: control.Duration(24 * time.Hour),
					RegenerateAfter: control.Duration(72 * time.Hour), Load: 0.0001,
				},
				{
					Name: "wide", Policy: "wander", State: "resting", Members: 40,
					NotRunning: "ran less than min_interval ago",
					Tokens: []control.Slot{
						{Slot: 0, State: "absent", Whereabouts: control.Whereabouts{
							Holder: "9c1d22e000000000", HolderName: "m2", HolderSince: now.Add(-2 * time.Second),
							Token: "791bbce3.00000000", Seq: 7,
						}},
						{Slot: 1, State: "resting", Whereabouts: control.Whereabouts{
							Holding: true, Holder: "3f2a91bc00000000", HolderName: "m1",
							HolderSince: now.Add(-time.Second),
							Guardians:   []control.Guardian{{Member: "9c1d22e000000000", Name: "m2"}},
							Token:       "791bbce3.11111111", Seq: 9,
						}},
						{Slot: 2, State: "absent"},
					},
					Slots: 3, Backups: 1, OnLost: "finish", Op: control.Duration(4 * time.Second),
					MinInterval: control.Duration(10 * time.Minute), RegenerateAfter: control.Duration(time.Hour),
					Load: 0.09,
				},
			},
		},
		members: control.Members{Members: []control.Member{
			{
				Name: "m2", Member: "9c1d22e000000000", Address: "10.0.0.2:7946", State: "suspect",
				Gates: []string{"default"},
			},
			{
				Name: "m1", Member: "3f2a91bc00000000", Address: "10.0.0.1:7946", State: "alive", Self: true,
				Gates: []string{"cache", "default"},
			},
			{Name: "evil\x1b[2J", Member: "00", Address: "10.0.0.3:7946", State: "failed"},
		}},
	}
}

func TestStatusText(t *testing.T) {
	const want = `m1 (3f2a91bc) at 10.0.0.1:7946, sealed, up 2d2h, wanderd v1.2.3
3 members
warning: dropped a message that another secret sealed: all members need the same --secret-file ` +
		`(3 times, last 8s ago (11:59:52), from 10.0.0.9:7946)
warning: evil�[2J
dropped 14 datagrams since the start
  malformed    12: damaged, or not made by this version of wanderd
  unexpected   2: late or repeated; some are normal
gossip noted 2 oddities since the start
  of_a_newer_agent 1
  same_key     1: another agent with this one's key: a copied state directory

gate default: absent (the token is elsewhere)
  holder       not known; passed to m2 (9c1d22e0) 12s ago (11:59:48)
  token        791bbce3.fb07cf09, number 42
  not running  ran less than min_interval ago
  last run     4m12s ago (11:55:48), took 3.211s, ok
  next run     in 5m48s (12:05:48) at the earliest
  runs         17, of which 1 failed
  walk         sweep, resting for 1s at each host
  regenerates  after 45m without a token, in 44m (12:44:00)
  max_interval 30m: 3 × min_interval
  backups      2 guardians for each token; on_lost finish
  load         0.02: op 4s (measured) × 3 members / min_interval 10m

gate cache: running
  holder       this host, for 1d1h (since 2026-02-02 11:00:00)
  guardians    m2, evil�[2J
  token        0badcafe.00000001, number 4294967296
  running      for 1m30s (since 11:58:30)
  next run     in 12h58m (2026-02-04 00:58:30) at the earliest
  runs         2, of which 0 failed
  regenerates  after 1h30m without a token
  backups      1 guardian for each token; on_lost stop
  load         2.00: op 1h × 1 member / min_interval 30m; above 1, so all members run later than min_interval

gate new: absent (this host knows of no token)
  holder       not known
  no token     seen for 3d8h (since 2026-01-31 04:00:00), ` +
		`which is longer than max_interval; "wanderd gate renew" makes a new one
  not running  due, waiting for the token
  last run     never
  next run     when the token comes
  runs         0, of which 0 failed
  regenerates  after 3d without a token
  backups      none; a lost token is replaced only by a new one
  load         0.00: op 4s × 2 members / min_interval 1d

gate wide: resting
  slot 0       not known; passed to m2 (9c1d22e0) 2s ago (11:59:58)
  token        791bbce3.00000000, number 7
  slot 1       this host, for 1s (since 11:59:59)
  guardians    m2
  token        791bbce3.11111111, number 9
  slot 2       not known
  not running  ran less than min_interval ago
  last run     never
  next run     when the token comes
  runs         0, of which 0 failed
  regenerates  after 1h without a token
  backups      1 guardian for each token; on_lost finish
  load         0.09: op 4s × 40 members / min_interval 10m / 3 slots
`
	if diff := cmp.Diff(want, ask(t, busy(), "status")); diff != "" {
		t.Error(diff)
	}
}

// The table is sorted by name, and no name can control the terminal.
func TestMembersText(t *testing.T) {
	const want = `NAME            MEMBER    ADDRESS        STATE    GATES
evil�[2J        00        10.0.0.3:7946  failed   -
m1 (this host)  3f2a91bc  10.0.0.1:7946  alive    cache, default
m2              9c1d22e0  10.0.0.2:7946  suspect  default
`
	if diff := cmp.Diff(want, ask(t, busy(), "members")); diff != "" {
		t.Error(diff)
	}
}

// Who is forgotten stands below the table of members, and in a status.
func TestTheMembersThatAreForgotten(t *testing.T) {
	src := busy()
	src.members.Forgotten = []control.ForgottenMember{
		{Name: "web3\x1b", Member: "1f00aa7700000000", By: "alice@web1", Since: noon().Add(-time.Hour)},
	}
	const want = "\nweb3\ufffd (1f00aa77) was forgotten 1h ago (11:00:00), by alice@web1\n"
	src.status.Forgotten = src.members.Forgotten
	for _, command := range []string{"members", "status"} {
		if text := ask(t, src, command); !strings.Contains(text, want) {
			t.Errorf("no %q in %s:\n%s", want, command, text)
		}
	}
	for name, want := range map[string]string{
		"web3": "web3 was forgotten before\n",
		"web4": "web4 (00000000) is forgotten on all hosts, and counts again if it comes back\n",
	} {
		if text := ask(t, src, "members", "forget", name); text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
}

func TestJSONIsTheAnswerOfTheAgent(t *testing.T) {
	var status control.Status
	if err := json.Unmarshal([]byte(ask(t, busy(), "status", "--json")), &status); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(busy().status, status); diff != "" {
		t.Error(diff)
	}
	var members control.Members
	if err := json.Unmarshal([]byte(ask(t, busy(), "members", "--json")), &members); err != nil {
		t.Fatal(err)
	}
	if len(members.Members) != 3 || members.Members[1].Name != "m1" || !members.Members[1].Self {
		t.Errorf("%+v", members)
	}
}

func TestDurationsHaveTheirTwoLargestUnits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 0: "0s", 1500 * time.Millisecond: "1s", 61500 * time.Millisecond: "1m1s",
		time.Hour + 59*time.Second: "1h", 90*time.Minute + time.Second: "1h30m", 49*time.Hour + 59*time.Minute: "2d1h",
	} {
		if got := rough(d); got != want {
			t.Errorf("%v is told as %s, want %s", d, got, want)
		}
	}
}

func TestEveryReasonForADropIsExplained(t *testing.T) {
	for _, why := range wire.Drops() {
		if counterWords(why.String()) == "" {
			t.Errorf("%s has no words", why)
		}
	}
}

func TestTheStatusListsTheFactsOfItsProtocol(t *testing.T) {
	text := ask(t, told{status: control.Status{Gates: []control.Gate{{Name: "g", Facts: []control.Fact{
		{Name: "queue", MemberName: "m2", Text: "waits first"}, {
			Name: "lease", For: control.Duration(3 * time.Second), At: noon(),
		},
	}}}}}, "status")
	for _, line := range []string{"queue        m2: waits first", "lease        3s: 12:00:00"} {
		if !strings.Contains(text, line) {
			t.Errorf("%q is not there:\n%s", line, text)
		}
	}
}

func TestStatusShowsWhichKeyAnswersToWhichNameOfARoster(t *testing.T) {
	src := busy()
	src.status.Gates = src.status.Gates[:1]
	g := &src.status.Gates[0]
	g.Policy = "tree"
	g.Roster = []control.Voter{
		{Name: "a", Member: "0102", Self: true, Live: true, Agrees: true},
		{Name: "b", Member: "03", Live: true, Agrees: true},
		{Name: "c", Member: "04", Live: true},
		{Name: "d", Member: "05"},
		{Name: "e\x1b"},
	}
	text := ask(t, src, "status")
	for _, want := range []string{
		"\n  policy       tree, strict: a host may run only while a majority of the roster permits it\n",
		"\n  roster       a = 0102, this host\n  roster       b = 03, here\n  roster       c = 04, here, does not " +
			"have this roster yet\n",
		"\n  roster       d = 05, away\n  roster       e\ufffd, never seen: no key has this name yet\n  majority     " +
			"3 of 5\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing:\n%s", want, text)
		}
	}
	if strings.Contains(text, "regenerates") || strings.Contains(text, "load") {
		t.Errorf("it has lines of a soft gate:\n%s", text)
	}
}

func TestAStatusSaysWhatTheHostHasAnswered(t *testing.T) {
	now := noon()
	for want, r := range map[string]control.Ready{
		"ready        not asked yet; being asked for 3s (since 11:59:57)\n": {AskingSince: now.Add(-3 * time.Second)},
		"ready        yes, 2m ago (11:58:00)\n": {
			Answer: control.AnswerYes,
			At:     now.Add(-2 * time.Minute), Counts: true,
		},
		"ready        no (75), 2m ago (11:58:00); asked next in 8m (12:08:00)\n": {
			Answer: control.AnswerNo, At: now.Add(-2 * time.Minute), Next: now.Add(8 * time.Minute),
		},
		"ready        an error: exit status 3: \uFFFD[31m, 2m ago (11:58:00); asked next in 0s (12:00:00)\n": {
			Answer: control.AnswerError, Error: "exit status 3: \x1b[31m", At: now.Add(-2 * time.Minute), Next: now,
		},
	} {
		var b strings.Builder
		writeGate(&b, control.Gate{Ready: &r}, "", now)
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	var b strings.Builder
	if writeGate(&b, control.Gate{}, "", now); strings.Contains(b.String(), "ready") {
		t.Errorf("nobody is asked, and the status says\n%s", b.String())
	}
}

func TestAStatusSaysHowTheHostIsLookedAfter(t *testing.T) {
	now := noon()
	for want, c := range map[string]control.Care{
		"succeeded    after is being asked; nobody else": {Since: now},
		"succeeded    soaking for another 5m (until 12:05:00); nobody else starts before that is over\n": {
			SoakUntil: now.Add(5 * time.Minute),
		},
		"succeeded    soaking for another 5m (until 12:05:00); after said, 5s ago (11:59:55): healthy; nobody": {
			SoakUntil: now.Add(5 * time.Minute), Answer: "healthy", At: now.Add(-5 * time.Second),
		},
		"succeeded    after said, 5s ago (11:59:55): not yet: \uFFFD; nobody": {
			SoakUntil: now, Answer: "not yet: \x1b", At: now.Add(-5 * time.Second),
		},
	} {
		var b strings.Builder
		writeGate(&b, control.Gate{Running: true, Care: &c}, "", now)
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestAStatusSaysWhenItsWindowOpens(t *testing.T) {
	now := time.Date(2026, 6, 5, 18, 48, 0, 0, time.UTC)
	for want, g := range map[string]control.Gate{
		"window       opens in 3h12m (22:00:00): 22:00-06:00; Sat 00:00-24:00\n": {
			Windows: []string{"22:00-06:00", "Sat 00:00-24:00"}, WindowOpens: now.Add(192 * time.Minute),
		},
		"window       open for another 1h30m (until 20:18:00): 19:00-20:00\n": {
			Windows: []string{"19:00-20:00"}, WindowOpen: true, WindowCloses: now.Add(90 * time.Minute),
		},
		"window       always open: 00:00-24:00\n": {Windows: []string{"00:00-24:00"}, WindowOpen: true},
	} {
		var b strings.Builder
		writeGate(&b, g, "", now)
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/wanderd/follow"
)

// onCall is the status of member m1 in a gate on call.
func onCall(where control.Whereabouts, c control.Called) told {
	c.Homes = []control.Guardian{{Member: "9c1d22e000000000", Name: "m2"}, {Member: "3f2a91bc00000000", Name: "m1"}}
	where.Called = &c
	g := control.Gate{
		Name: "backup", Policy: "call", State: control.Absent, Members: 3, Slots: 1, OnDemand: true, Backups: 2,
		OnLost:     "finish",
		NotRunning: "no caller waits", Because: control.BecauseUnwanted, Whereabouts: where,
		MaxInterval: control.Duration(time.Minute),
	}
	return told{status: control.Status{
		Name: "m1", Member: "3f2a91bc00000000", Address: "10.0.0.1:7946", Started: noon().Add(-time.Hour), Sealed: true,
		Version: "v1", Members: 3, Gates: []control.Gate{g},
	}}
}

// knows is a member that last heard of the token an hour ago.
func knows() control.Whereabouts {
	return control.Whereabouts{
		Holder: "7700000000000000", HolderName: "m7", Heard: noon().Add(-time.Hour), Token: "791bbce3.fb07cf09",
		Seq: 42,
	}
}

// At three in the morning each line has to say whose knowledge it is, and how old.
func TestAStatusOnCallSaysWhatAHomeKnows(t *testing.T) {
	const want = `gate backup: absent (the token is elsewhere)
  holder       m7 (77000000), as this host heard 1h ago (11:00:00)
  guarding     this host keeps a copy of the token
  token        791bbce3.fb07cf09, number 42 when this host last heard of it, 1h ago (11:00:00)
  homes        m2, this host
  waiters      none at this home; m2 is called first
  not running  no caller waits
  last run     never
  policy       call: the token stays where it was last used, and comes when it is called
  max_interval 1m: if members do not answer, a new token is made after that time without one
  backups      2 homes for each token; on_lost finish
`
	where := knows()
	where.Keeps = true
	text := ask(t, onCall(where, control.Called{Queue: &control.Queue{As: control.AsHome}}), "status")
	_, gate, _ := strings.Cut(text, "\n\n")
	if diff := cmp.Diff(want, gate); diff != "" {
		t.Error(diff)
	}
}

func TestAStatusOnCallSaysWhoWaits(t *testing.T) {
	now := noon()
	long := &control.Queue{As: control.AsHome, Waiters: 4096}
	for i := range 20 {
		long.Oldest = append(long.Oldest, control.Waiter{
			Name: fmt.Sprintf("w%d", i), Since: now.Add(time.Duration(i-70) * time.Second), Silent: i == 1,
		})
	}
	for want, c := range map[string]control.Called{
		"waiters      not known here; \"wanderd status --fleet\" asks the homes\n": {},
		"waiters      none, as far as this holder was told\n": {
			Queue: &control.Queue{As: control.AsHolder},
		},
		"waiters      1 or more, as far as this guardian was told: evil\ufffd[2J for 5s\n": {Queue: &control.Queue{
			As: control.AsGuardian, Waiters: 1, Oldest: []control.Waiter{{
				Name: "evil\x1b[2J", Since: now.Add(-5 * time.Second),
			}},
		}},
		"waiters      4096 at this home: w0 for 1m10s, w1 for 1m9s (does not answer), w2 for 1m8s, " +
			"w3 for 1m7s, w4 for 1m6s, w5 for 1m5s, w6 for 1m4s, w7 for 1m3s, w8 for 1m2s, " +
			"and 4087 more; m2 is called first\n": {Queue: long},
		"calling      for 12s (since 11:59:48); no home has answered yet\n": {Since: now.Add(-12 * time.Second)},
		"calling      for 12s (since 11:59:48); 3 hosts before this one, as m2 said 4s ago (11:59:56)\n": {
			Since: now.Add(-12 * time.Second),
			Turn:  &control.Turn{Name: "m2", At: now.Add(-4 * time.Second), Before: 3},
		},
		"calling      for 12s (since 11:59:48); no host before this one, as m2 said 4s ago (11:59:56)\n": {
			Since: now.Add(-12 * time.Second), Turn: &control.Turn{Name: "m2", At: now.Add(-4 * time.Second)},
		},
	} {
		if text := ask(t, onCall(knows(), c), "status"); !strings.Contains(text, "\n  "+want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	first := onCall(knows(), control.Called{
		Since: now.Add(-2 * time.Second), Queue: &control.Queue{As: control.AsHome, Waiters: 1},
		Turn: &control.Turn{Member: "3f2a91bc00000000", Before: 1, At: now},
	})
	slices.Reverse(first.status.Gates[0].Called.Homes)
	text := ask(t, first, "status")
	for _, want := range []string{
		"\n  homes        this host, m2\n  waiters      1, as the first home knows: and 1 more\n",
		"\n  calling      for 2s (since 11:59:58); 1 host before this one, by its own queue\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	text = ask(t, onCall(control.Whereabouts{}, control.Called{}), "status")
	for _, want := range []string{
		"gate backup: absent (this host does not know where the token is)\n", "\n  holder       not known\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestACallerOnCallIsToldItsTurn(t *testing.T) {
	now := noon()
	turn := func(age time.Duration, before int, held time.Duration) *control.Turn {
		return &control.Turn{Name: "m2", At: now.Add(-age), Before: before, Held: control.Duration(held)}
	}
	since := now.Add(-20 * time.Second)
	waits := []control.Caller{{PID: 5, Since: since}}
	for want, g := range map[string]control.Gate{
		"calling the token; no home has answered yet": {Whereabouts: knows()},
		"m2 said 4s ago: m7 has had the token for 12s or more; 3 hosts before this one": {Whereabouts: withTurn(knows(),
			turn(4*time.Second, 3, 12*time.Second))},
		"m7 has had the token for 12s or more; no host before this one": {
			Whereabouts: withTurn(knows(), turn(0, 0, 12*time.Second)),
		},
		"m7 has the token; 1 host before this one": {Whereabouts: withTurn(knows(), turn(0, 1, 0))},
		"home m2 does not know where the token is, and looks for it; no host before this one": {
			Whereabouts: withTurn(control.Whereabouts{}, turn(0, 0, 0)),
		},
	} {
		g.Name, g.Callers = "g", waits
		c := control.Called{Since: since}
		if g.Called != nil {
			c.Turn = g.Called.Turn
		}
		g.Called = &c
		if got := waitingFor(&g, 5, now); got != "gate g: "+want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	// Of several tokens it is told of the one that comes first.
	several := control.Gate{Name: "g", Callers: waits}
	for _, before := range []int{7, 2, 5} {
		w := withTurn(knows(), turn(0, before, 0))
		w.Called.Since = since
		several.Tokens = append(several.Tokens, control.Slot{Slot: len(several.Tokens), Whereabouts: w})
	}
	if got := waitingFor(&several, 5, now); !strings.HasSuffix(got, "2 hosts before this one") {
		t.Errorf("three tokens: %q", got)
	}
	// A caller that does not wait (--nonblock) is told what this host last heard.
	g := control.Gate{Name: "g", Whereabouts: knows()}
	const want = "gate g: m7 had the token when this host last heard of it, 1h ago"
	if got := waitingFor(&g, 5, now); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func withTurn(w control.Whereabouts, t *control.Turn) control.Whereabouts {
	w.Called = &control.Called{Turn: t}
	return w
}

// The oldest comes next, so that a long wait is no fault; a wait without any answer is one.
func TestALongWaitOnCallIsAProblemOnlyIfNobodyAnswers(t *testing.T) {
	now := noon()
	src := onCall(knows(), control.Called{Since: now.Add(-time.Hour), Turn: &control.Turn{Name: "m2", At: now}})
	g := &src.status.Gates[0]
	g.Because, g.NotRunning, g.DueSince = control.BecauseWaiting, "due, waiting for the token", now.Add(-time.Hour)
	if list := problemsOfGate(g, false, now); len(list) > 0 {
		t.Errorf("a home has answered, and these are problems: %q", list)
	}
	g.SilentSince = now.Add(-time.Hour)
	if list := problemsOfGate(g, false, now); len(list) != 1 || !strings.Contains(list[0], "no token seen") {
		t.Errorf("nobody answers, and these are problems: %q", list)
	}
}

func TestAFleetOnCallShowsItsHomes(t *testing.T) {
	now := noon()
	home := func(name string, named int, q *control.Queue) follow.Home {
		return follow.Home{Name: name, Named: named, Of: 10, Queue: q}
	}
	silent := home("m4", 1, nil)
	silent.Missing = "did not answer in time"
	homes := []follow.Home{
		home("m2", 10, &control.Queue{Waiters: 3, Oldest: []control.Waiter{{Since: now.Add(-62 * time.Second)}}}),
		home("m1", 9, &control.Queue{}), home("m3", 1, nil), silent,
	}
	const want = "m2 (3 waiters, the first for 1m2s), m1 (no waiters; a home for 9 of 10 members), " +
		"m3 (keeps no queue; a home for 1 of 10 members), m4 (did not answer in time; a home for 1 of 10 members)"
	if got := homesText(homes, now); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for len(homes) < 100 {
		homes = append(homes, silent)
	}
	if got := homesText(homes, now); !strings.HasSuffix(got, ", and 94 more") || len(got) > 1000 {
		t.Errorf("100 homes: %s", got)
	}
	var b strings.Builder
	slots := []follow.Home{home("m1", 10, nil), home("m2", 10, nil)}
	slots[1].Slot = 1
	writeHomes(func(name, text string) { fmt.Fprintf(&b, "%s: %s\n", name, text) }, slots, now)
	if got := b.String(); got != "homes 0: m1 (keeps no queue)\nhomes 1: m2 (keeps no queue)\n" {
		t.Errorf("two slots: %s", got)
	}
}

func TestAFleetOnCallShowsWhoWaits(t *testing.T) {
	now := noon()
	var rows []follow.Row
	for i := range 12 {
		g := &control.Gate{Whereabouts: control.Whereabouts{Called: &control.Called{}}}
		rows = append(rows, follow.Row{
			Name: fmt.Sprintf("m%d", i), Awaits: i > 0, Gate: g, DueSince: now.Add(-time.Duration(i) * time.Second),
		})
	}
	const want = "11 hosts: m11 for 11s, m10 for 10s, m9 for 9s, m8 for 8s, m7 for 7s, m6 for 6s, m5 for 5s, " +
		"m4 for 4s, m3 for 3s, and 2 more"
	if got := waitingText(rows, now); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := waitingText(rows[:1], now); got != "nobody" {
		t.Error(got)
	}
}

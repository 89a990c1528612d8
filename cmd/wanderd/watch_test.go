package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/cmd/wanderd/follow"
)

// crewSeen is crew as a snapshot.
func crewSeen() follow.Snapshot {
	c := crew().fleet
	return follow.Snapshot{At: noon(), Fleet: &c, Tokens: []follow.Token{
		{Holder: c.Tokens[0], Trail: []string{"m1", "m4"}}, {Holder: c.Tokens[1], Trail: []string{"m2", "m1", "m3"}},
	}}
}

// shown is the screen after some messages, without its styles.
func shown(messages ...tea.Msg) string {
	var model tea.Model = newWatchModel(noon().Location())
	for _, msg := range messages {
		model, _ = model.Update(msg)
	}
	return regexp.MustCompile("\x1b\\[[0-9]*m").ReplaceAllString(model.View().Content, "")
}

func key(text string) tea.Msg {
	switch text {
	case "tab":
		return tea.KeyPressMsg{Code: tea.KeyTab}
	case "down":
		return tea.KeyPressMsg{Code: tea.KeyDown}
	case "up":
		return tea.KeyPressMsg{Code: tea.KeyUp}
	}
	return tea.KeyPressMsg{Code: []rune(text)[0], Text: text}
}

func TestTheScreenShowsTheFleet(t *testing.T) {
	want := `5 members, 2 do not answer, 12:00:00   q quits, ? helps
gate sync (2 of 2)
  token   m3 (33333333), for 13s (since 11:59:47), number 42
          m2 → m1 → ● m3
  runs    m3, for 12s (since 11:59:48)
  failed  m1, 20m ago (11:40:00): exit status 2
  next    with the token: m1

  NAME      LAST RUN             TOOK      NEXT RUN        NOW
! m1        11:40:00             3s        with the token  exit status 2; due, waiting for the token
  m2        11:55:00             1.5s      in 5m           ran less than min_interval ago
▶ m3        11:59:48             -         in 9m           runs for 12s (since 11:59:48)
? m4                                                       did not answer in time
? evil�[2J                                                 failed`
	if diff := cmp.Diff(want, shown(tea.WindowSizeMsg{Width: 120, Height: 30}, crewSeen(), key("tab"))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTheScreenFitsTheTerminal(t *testing.T) {
	for _, size := range []tea.WindowSizeMsg{
		{Width: 40, Height: 10}, {Width: 1, Height: 1}, {Width: 200, Height: 60}, {},
	} {
		for name, messages := range map[string][]tea.Msg{
			"before": {size, crewSeen(), key("tab")}, "after": {crewSeen(), key("tab"), size},
			"with help": {crewSeen(), key("?"), size}, "nothing": {size},
		} {
			lines := strings.Split(shown(messages...), "\n")
			if len(lines) > max(size.Height, 1) {
				t.Errorf("%s, %+v: %d lines", name, size, len(lines))
			}
			for _, line := range lines {
				if len([]rune(line)) > max(size.Width, 1) && name != "with help" {
					t.Errorf("%s, %+v: %q", name, size, line)
				}
			}
		}
	}
}

func TestTheKeysOfTheScreen(t *testing.T) {
	size := tea.WindowSizeMsg{Width: 100, Height: 30}
	if text := shown(size, crewSeen(), key("?")); !strings.Contains(text, "q, Esc, Ctrl-C   quit") {
		t.Errorf("? shows\n%s", text)
	}
	if text := shown(size, crewSeen(), key("?"), key("?")); !strings.Contains(text, "gate backup") {
		t.Errorf("?, ? shows\n%s", text)
	}
	if text := shown(size, crewSeen(), key("tab"), key("tab")); !strings.Contains(text, "gate backup (1 of 2)") {
		t.Errorf("Tab, Tab shows\n%s", text)
	}
	if text := shown(size, crewSeen(), key("tab"), key("down"), key("down")); strings.Contains(text, "  m2  ") ||
		!strings.Contains(text, "▶ m3 ") {
		t.Errorf("two lines down shows\n%s", text)
	}
	var down []tea.Msg
	for range 50 {
		down = append(down, key("j"))
	}
	if text := shown(append([]tea.Msg{size, crewSeen()}, down...)...); !strings.Contains(text, "evil") {
		t.Errorf("far down shows\n%s", text)
	}
	for _, msg := range []tea.Msg{
		key("q"), tea.KeyPressMsg{Code: tea.KeyEscape}, tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl},
	} {
		if _, cmd := newWatchModel(time.UTC).Update(msg); cmd == nil || cmd() != tea.Quit() {
			t.Errorf("%v does not quit", msg)
		}
	}
	for _, msg := range []tea.Msg{key("x"), crewSeen(), size} {
		if _, cmd := newWatchModel(time.UTC).Update(msg); cmd != nil {
			t.Errorf("%v does something", msg)
		}
	}
}

func TestTheScreenSaysWhyItIsOld(t *testing.T) {
	seen := crewSeen()
	seen.Error = "no agent answers\x1b[2J"
	text := shown(seen)
	if !strings.Contains(text, "no agent answers�[2J") || !strings.Contains(text, "gate backup") {
		t.Errorf("%s", text)
	}
}

func TestTheNextHostIsTheOneThatIsDueFirst(t *testing.T) {
	now := noon()
	fleet := func(next ...time.Duration) *control.Fleet {
		f := new(control.Fleet)
		for i, d := range next {
			f.Members = append(f.Members, control.FleetMember{
				Member: control.Member{Name: "m" + string(rune('1'+i))},
				Status: &control.Status{
					Gates: []control.Gate{{Name: "sync", LastRun: now.Add(-time.Hour), NextRun: now.Add(d)}},
				},
			})
		}
		return f
	}
	for want, f := range map[string]*control.Fleet{
		"m2 in 5m (12:05:00)":                               fleet(time.Hour, 5*time.Minute),
		"with the token: m1, m3":                            fleet(-time.Second, time.Hour, 0),
		"with the token: m1, m2, m3, m4, m5, m6 and 2 more": fleet(0, 0, 0, 0, 0, 0, 0, 0),
		"nobody": fleet(),
	} {
		if got := nextText(follow.Rows(f, "sync"), now); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Without a terminal each event is a line, once.
func TestWithoutATerminalEachEventIsALine(t *testing.T) {
	var out strings.Builder
	l := watchLines{out: &out, zone: noon().Location(), said: make(map[string]string)}
	seen := crewSeen()
	l.tell(seen)
	l.tell(seen)
	later := crewSeen()
	later.At = noon().Add(time.Second)
	later.Tokens[1].Running, later.Tokens[1].Name, later.Tokens[1].Member = false, "m1", "11"
	later.Fleet.Members[3].Missing = ""
	l.tell(later)
	later.Error = "no agent answers"
	l.tell(later)
	later.Error = ""
	l.tell(later)
	want := `2026-02-03 12:00:00  gate backup: not known: m4 (44444444), the last known holder, did not answer in time
2026-02-03 12:00:00  gate sync: m3 runs, number 42
2026-02-03 12:00:00  gate sync: m1 failed after 3s: exit status 2
2026-02-03 12:00:00  m4 is missing: did not answer in time
2026-02-03 12:00:00  evil�[2J is missing: failed
2026-02-03 12:00:01  gate sync: m1 has the token
2026-02-03 12:00:01  m4 answers again
2026-02-03 12:00:01  error: no agent answers
2026-02-03 12:00:01  the agent on this host answers again
`
	if diff := cmp.Diff(want, out.String()); diff != "" || l.err != nil {
		t.Errorf("%v (-want +got)\n%s", l.err, diff)
	}
}

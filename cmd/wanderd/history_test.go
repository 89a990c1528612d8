package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/history"
	"github.com/wanderd/wanderd/cmd/cli"
)

func ran() told {
	at := noon().Add(-49 * time.Hour)
	now := noon()
	return told{history: control.History{Gates: []control.GateHistory{
		{Name: "sync", Runs: []history.Run{
			{Start: at, End: at.Add(1500 * time.Millisecond), Seq: 7},
			{
				Start: now.Add(-2 * time.Hour), End: now.Add(-time.Hour), Seq: 9, Exit: -1, Cut: history.CutTimeout,
				Error: "stopped after its timeout", Output: []string{"at 40 %", "evil\x1b[2J"},
			},
			{Start: now.Add(-50 * time.Minute), Seq: 11, Exit: -1, Cut: history.CutAgent},
			{
				Start: now.Add(-5 * time.Minute), End: now.Add(-5 * time.Minute), Exit: -1,
				Skip: &history.Skip{By: "ann", Reason: "disk", Until: now.Add(time.Hour)},
			},
			{Start: now.Add(-90 * time.Second), Seq: 15, Command: "rsync"},
		}},
		{Name: "upgrade"},
	}}}
}

func TestHistoryForPeople(t *testing.T) {
	want := `gate sync: 4 runs
  began                took          exit  cut short    number      command
  2026-02-01 11:00:00  1.5s          0     -            7
  10:00:00             1h            -     timeout      9
      stopped after its timeout
      | at 40 %
      | evil�[2J
  11:10:00             -             -     agent died   11
  11:55:00             -             -     -            -           skips its turns by order of ann until 13:00:00: disk
  11:58:30             1m30s so far  -     -            15          rsync

gate upgrade: 0 runs
`
	if diff := cmp.Diff(want, ask(t, ran(), "history")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestHistoryShowsTheChosenRuns(t *testing.T) {
	for args, want := range map[string][]uint64{
		"":                     {7, 9, 11, 0, 15},
		"--failed":             {9, 11},
		"--since 1h":           {11, 0, 15},
		"--failed --since 1h":  {11},
		"--since 3d --failed":  {9, 11},
		"--gate upgrade":       nil,
		"--gate sync --failed": {9, 11},
	} {
		var h control.History
		text := ask(t, ran(), append([]string{"history", "--json"}, strings.Fields(args)...)...)
		if err := json.Unmarshal([]byte(text), &h); err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for _, g := range h.Gates {
			for _, r := range g.Runs {
				got = append(got, r.Seq)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", args, diff)
		}
	}
}

func TestHistoryRefusesWhatItDoesNotKnow(t *testing.T) {
	var out bytes.Buffer
	p := program{stdout: &out, stderr: &out, now: noon}
	if code := p.run(t.Context(), []string{"history", "--since", "2"}); code != cli.ExitUsage ||
		!strings.Contains(out.String(), "--since: \"2\" has no unit") {
		t.Errorf("exit code %d: %s", code, out.String())
	}
	for _, args := range []string{"", " --fleet"} {
		text := refuse(t, ran(), strings.Fields("history --gate snyc"+args)...)
		if !strings.Contains(text, `gate "snyc"`) || args == "" && !strings.Contains(text, `did you mean "sync"`) {
			t.Errorf("an unknown gate%s: %s", args, text)
		}
	}
}

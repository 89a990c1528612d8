package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
)

func TestAPauseSaysUntilWhenByWhomSinceWhenAndWhy(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	ended := control.Pause{By: "alice@a", Since: now.Add(-time.Hour), Until: now.Add(time.Hour), Reason: "the mirror is down"}
	ever := control.Pause{By: "b\x1b[31m", Since: now.Add(-48 * time.Hour)}
	for want, g := range map[string]control.Gate{
		"is not paused": {},
		"is paused on all hosts until 13:00:00, by alice@a at 11:00:00: the mirror is down":              {Paused: &ended},
		"is paused on this host until somebody resumes it, by b\uFFFD[31m at 2026-11-20 12:00:00":        {PausedHere: &ever},
		"is paused on all hosts until 13:00:00, by alice@a at 11:00:00: the mirror is down; and on this": {Paused: &ended, PausedHere: &ever},
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
		if code := p.run(t.Context(), []string{"pause", "--for=" + lasts}); code != exitUsage || !strings.Contains(out.String(), "--for "+lasts) {
			t.Errorf("--for %s: %d, %q", lasts, code, out.String())
		}
	}
}

// Package prometheus_test checks that the alerts and the dashboard ask for metrics that an agent has, and that
// promtool, where it is installed, accepts the alerts.
package prometheus_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/agent/metrics"
)

// exposed returns the names of all metrics of an agent.
func exposed(t *testing.T) map[string]bool {
	t.Helper()
	one := map[string]uint64{"one": 1}
	now := time.Now()
	m := metrics.New(func(context.Context) (control.Status, error) {
		return control.Status{Dropped: one, Gossip: one, Gates: []control.Gate{{
			Name: "sync", Results: one, CommandResults: one, Taken: one, Given: one, Notes: one, LastRun: now,
			LastSuccess: now, NextRun: now, SilentSince: now,
			Load: 1, Lap: 1, Op: 1, RegenerateAfter: 1, Ready: &control.Ready{Answers: one}, Sent: one, Received: one,
			Callers: []control.Caller{{Since: now}},
			Whereabouts: control.Whereabouts{Called: &control.Called{
				Queue: &control.Queue{Waiters: 1, Oldest: []control.Waiter{{Since: now}}},
			}},
		}}}, nil
	})
	for _, d := range []metrics.Durations{m.Runs, m.Commands} {
		d.Ended("sync", time.Second)
		d.Waited("sync", time.Second)
	}
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	names := map[string]bool{}
	for line := range strings.Lines(answer.Body.String()) {
		if name := regexp.MustCompile(`^[a-z_]+`).FindString(line); strings.HasPrefix(name, "wanderd_") {
			names[name] = true
		}
	}
	if len(names) < 25 {
		t.Fatalf("only %v: %s", slices.Collect(maps.Keys(names)), answer.Body)
	}
	return names
}

func TestEveryMetricThatIsAskedForExists(t *testing.T) {
	exists := exposed(t)
	for _, file := range []string{"alerts.yaml", "alerts_test.yaml", "dashboard.json"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		asked := regexp.MustCompile(`wanderd_[a-z_]+`).FindAllString(string(text), -1)
		if len(asked) < 8 {
			t.Errorf("%s asks for %v only", file, asked)
		}
		for _, name := range asked {
			if !exists[name] {
				t.Errorf("%s asks for %s, which is none", file, name)
			}
		}
	}
}

func TestTheDashboardIsJSON(t *testing.T) {
	text, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil || len(dashboard.Panels) == 0 {
		t.Fatal(err, len(dashboard.Panels))
	}
	for _, p := range dashboard.Panels {
		if p.Title == "" || len(p.Targets) == 0 || p.Targets[0].Expr == "" {
			t.Errorf("%+v shows nothing", p)
		}
	}
}

func TestPromtoolLikesTheAlerts(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("no promtool here: apt install prometheus")
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
		if out, err := exec.Command(promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %v: %v\n%s", args, err, out)
		}
	}
}

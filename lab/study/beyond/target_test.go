package beyond

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/wanderd/wanderd/lab/study"
	"github.com/wanderd/wanderd/sim/report"
)

func TestATargetIsNotMetWithoutAMeasurement(t *testing.T) {
	for _, c := range []struct {
		target target
		met    bool
	}{
		{target{measured: 1.5, limit: 1.5}, true},
		{target{measured: 1.51, limit: 1.5}, false},
		{target{measured: 0.99, limit: 0.99, least: true}, true},
		{target{measured: 0.98, limit: 0.99, least: true}, false},
		{target{measured: math.NaN(), limit: 1}, false},
		{target{measured: math.NaN(), limit: 1, least: true}, false},
	} {
		if c.target.met() != c.met {
			t.Errorf("%+v: met %v, want %v", c.target, c.target.met(), c.met)
		}
	}
}

func TestATargetThatIsMissedIsNamed(t *testing.T) {
	targets := []target{
		{what: "busy", measured: 1, limit: 0.99, least: true, write: report.Percent},
		{what: "recovery", published: "long", measured: 3, limit: 2.5, write: inSeconds},
		{what: "overlap", measured: math.NaN(), write: report.Percent},
	}
	for want, of := range map[string][]target{
		"1 of 3 met; not met: recovery; overlap": targets,
		"all 1 met":                              targets[:1],
	} {
		calm := Page().Experiments[0]
		calm.Do = func(context.Context, study.Options) (study.Result, error) {
			return study.Result{Figures: judged(of), Tables: []report.Table{{Title: "After a fault"}}}, nil
		}
		if r, err := calm.Run(t.Context(), study.Options{}); err != nil || r.Verdict != want {
			t.Errorf("%q, %v; want %q", r.Verdict, err, want)
		}
	}
	table := targetTable(targets).Render(report.Markdown)
	for _, want := range []string{
		"| busy | – | at least 99 % | 100 % | met |", "| recovery | long | at most 2.5 s | 3 s | not met |",
		"| overlap | – | 0 % | – | – |",
	} {
		if !strings.Contains(table, want) {
			t.Errorf("the table lacks %q:\n%s", want, table)
		}
	}
}

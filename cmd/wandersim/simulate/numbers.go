package simulate

import (
	"context"
	"math"
	"strings"

	"github.com/wanderd/wanderd/cmd/wandersim/scenario"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/policy/kcopies/misra"
	"github.com/wanderd/wanderd/sim"
	"github.com/wanderd/wanderd/sim/fleet/kcopies"
	ringing "github.com/wanderd/wanderd/sim/fleet/ring"
	treeing "github.com/wanderd/wanderd/sim/fleet/tree"
	"github.com/wanderd/wanderd/sim/measure"
	"github.com/wanderd/wanderd/sim/report"
)

// Figure is one number of a run.
type Figure struct {
	// Name is the figure's path in JSON, with dots: "obtaining_s.p50". Label is for people.
	Name, Label string
	// Value is not a number if there is none.
	Value float64
}

// figures are the outcome of a policy that has only numbers. Each run has the same figures.
type figures struct{ batch[[]Figure] }

// estimates returns the means of the runs, figure by figure.
func (f *figures) estimates() []measure.Estimate {
	all := make([]measure.Estimate, len(f.Runs[0]))
	for k := range all {
		samples := make([]measure.Number, len(f.Runs))
		for i, run := range f.Runs {
			samples[i] = measure.Number(run[k].Value)
		}
		all[k] = measure.EstimateOf(samples...)
	}
	return all
}

func (f *figures) Document() any {
	d := map[string]any{"scenario": f.Scenario, "runs": len(f.Runs), "stopped": f.Stopped()}
	for k, estimate := range f.estimates() {
		object, name := d, f.Runs[0][k].Name
		if group, inner, nested := strings.Cut(name, "."); nested {
			if d[group] == nil {
				d[group] = map[string]any{}
			}
			object, name = d[group].(map[string]any), inner
		}
		if object[name] = estimate; f.Scenario.Seeds == 1 {
			object[name] = measure.Number(f.Runs[0][k].Value)
		}
	}
	return d
}

func (f *figures) Tables(format report.Format) string {
	t := report.Table{Title: f.title(), Header: []string{"figure", "value"}}
	many := f.Scenario.Seeds > 1
	if many {
		t.Header = append(t.Header, "± 95 %")
	}
	for k, e := range f.estimates() {
		row := []string{f.Runs[0][k].Label, report.Number(float64(e.Mean))}
		if many {
			row = append(row, report.Number(float64(e.Half)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t.Render(format)
}

func ring(ctx context.Context, p scenario.Parameters, progress func(share float64)) (*[]Figure, error) {
	s := p.Ring()
	meter := ringing.NewMeter(s.Members)
	reached, err := s.Measure(ctx, func(now policy.Time) { progress(float64(now) / float64(s.Duration)) }, meter)
	f := meter.Figures(reached)
	return &[]Figure{
		{"busy", "busy: share of the time with at least one operation", f.Busy},
		{"overlap", "overlap: share with two or more", f.Overlap},
		{"requests", "requests", float64(f.Demands)},
		{"served", "operations", float64(f.Runs)},
		{"token_moves", "moves of the token", float64(f.TokenMoves)},
		{"request_messages", "request messages", float64(f.RequestMessages)},
		{"messages_per_request", "messages per request", f.MessagesPerRequest()},
		{"datagrams", "datagrams", float64(f.Datagrams)},
		{"regenerated", "tokens regenerated", float64(f.Regenerated)},
		{"obtaining_s.p50", "from a request to its operation, median, s", f.Obtaining.P50},
		{"obtaining_s.p90", "  90 % are below, s", f.Obtaining.P90},
		{"obtaining_s.p99", "  99 % are below, s", f.Obtaining.P99},
		{"obtaining_s.max", "  longest, s", f.Obtaining.Max},
		{"obtaining_s.mean", "  mean, s", f.Obtaining.Mean},
	}, err
}

func tree(ctx context.Context, p scenario.Parameters, progress func(share float64)) (*[]Figure, error) {
	s := p.Tree()
	f, err := treeing.NewWorld(s).RunFor(ctx, func(now policy.Time) { progress(float64(now) / float64(s.Limit)) })
	if f == nil {
		return nil, err
	}
	return &[]Figure{
		{"requests", "requests", float64(f.Requests)},
		{"served", "operations", float64(len(f.Obtaining))},
		{"sent", "messages sent; a broadcast is one", float64(f.Sent)},
		{"received", "messages received", float64(f.Received)},
		{"regenerated", "tokens regenerated", float64(f.Regenerated)},
		{"falsely_regenerated", "  while there was one", float64(f.FalselyRegenerated)},
		{"stuck", "members that have waited for a quarter of the run or more", float64(f.Waiting)},
		{"obtaining_s.p50", "from a request to its operation, median, s", f.Quantile(0.5).Seconds()},
		{"obtaining_s.p90", "  90 % are below, s", f.Quantile(0.9).Seconds()},
		{"obtaining_s.p99", "  99 % are below, s", f.Quantile(0.99).Seconds()},
		{"obtaining_s.max", "  longest, s", f.Quantile(1).Seconds()},
		{"obtaining_s.mean", "  mean, s", f.Mean().Seconds()},
	}, err
}

// termination runs a ring that detects the termination of an application.
func termination(ctx context.Context, p scenario.Parameters, progress func(share float64)) (*[]Figure, error) {
	w := deciding(&p)
	var sent traffic
	k, err := w.Terminate(ctx, kcopies.Work{Budget: p.Work, Takes: p.Op}, &sent)
	by, detected, took := missing(), missing(), missing()
	if k.By >= 0 {
		by, detected, took = float64(k.By), seconds(k.Detected), seconds(k.Detected-k.Passive)
	}
	progress(1)
	return &[]Figure{
		{"passive_s", "all members passive since, s", seconds(k.Passive)},
		{"detected_s", "termination detected at, s", detected},
		{"detected_by", "  by member", by},
		{"took_s", "  so long after it was there, s", took},
		{"crashes", "members that have crashed", float64(sent.crashes)},
		{"messages", "messages of the token and its copies", float64(sent.messages - sent.work)},
		{"work_messages", "messages of the application", float64(sent.work)},
	}, err
}

// election runs a ring that elects a leader. Every member is a candidate.
func election(ctx context.Context, p scenario.Parameters, progress func(share float64)) (*[]Figure, error) {
	w := deciding(&p)
	var sent traffic
	candidates := make([]int, p.Members)
	for i := range candidates {
		candidates[i] = i
	}
	e, err := w.Elect(ctx, candidates, &sent)
	first, leader, agreed := missing(), missing(), missing()
	if len(e.Rounds) > 0 {
		first = seconds(e.Rounds[0])
	}
	if e.Leader >= 0 {
		leader, agreed = float64(e.Leader), seconds(e.All)
	}
	progress(1)
	return &[]Figure{
		{"elections", "elections: how often a member became the leader", float64(len(e.Rounds))},
		{"first_s", "the first leader was elected at, s", first},
		{"leader", "the leader at the end: member", leader},
		{"agreed_s", "  all living members know it since, s", agreed},
		{"crashes", "members that have crashed", float64(sent.crashes)},
		{"messages", "messages of claims and their copies", float64(sent.messages)},
	}, err
}

func deciding(p *scenario.Parameters) kcopies.World {
	w := p.Deciding()
	if p.CrashEvery > 0 {
		w.CrashEvery(p.CrashEvery)
	}
	return w
}

func missing() float64 { return math.NaN() }

func seconds(t policy.Time) float64 { return float64(t) / 1e9 }

type traffic struct{ crashes, messages, work int }

func (t *traffic) Watch(_ *sim.Cluster, o *sim.Occurrence) error {
	if o.Kind == sim.Crashed {
		t.crashes++
	}
	for i := range o.Effects {
		if e := &o.Effects[i]; e.Kind == policy.Send {
			t.messages++
			if e.Msg.Kind == misra.KindWork {
				t.work++
			}
		}
	}
	return nil
}

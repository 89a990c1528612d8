package simulate

import (
	"context"
	"fmt"

	"github.com/wanderd/wanderd/cmd/wandersim/scenario"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/sim/measure"
)

// called runs a fleet whose token is called.
func called(ctx context.Context, p scenario.Parameters, progress func(share float64)) (*[]Figure, error) {
	s := p.Call()
	service := measure.NewService(p.Members)
	meter := measure.New(measure.Config{
		Members: p.Members, Slots: p.Slots.Of(p.Members), Quiet: p.MaxInterval, Good: p.Interval(),
		Bin: bin(p.Interval()),
	})
	reached, err := s.Measure(ctx, func(now policy.Time) { progress(float64(now) / float64(p.Duration)) }, service,
		meter)
	f, m := service.Served(reached), meter.Figures(reached)
	tooMany := "two or more"
	if n := p.Slots.Of(p.Members); n > 1 {
		tooMany = fmt.Sprintf("more than %d", n)
	}
	atOnce := measure.Number(0)
	for _, spent := range m.Concurrency {
		atOnce += measure.Number(spent.Key) * spent.Value / m.Duration
	}
	return &[]Figure{
		{"busy", "busy: share of the time with at least one operation", float64(m.Utilisation)},
		{"overlap", "overlap: share with " + tooMany, float64(m.Overlap)},
		{"at_once", "operations at once, mean", float64(atOnce)},
		{"requests", "requests: callers that came", float64(f.Demands)},
		{"served", "  of which an operation was for", float64(f.Runs)},
		{"operations", "operations", float64(m.Operations)},
		{"obtaining_s.p50", "from a request to its operation, median, s", f.Obtaining.P50},
		{"obtaining_s.p90", "  90 % are below, s", f.Obtaining.P90},
		{"obtaining_s.p99", "  99 % are below, s", f.Obtaining.P99},
		{"obtaining_s.max", "  longest, s", f.Obtaining.Max},
		{"obtaining_s.mean", "  mean, s", f.Obtaining.Mean},
		{"fairness", "Jain's index of the members' mean waits", f.Fairness},
		{"interval_s.p50", "interval of a member, median, s", float64(m.Interval.P50)},
		{"interval_s.p99", "  99 % are below, s", float64(m.Interval.P99)},
		{"interval_s.max", "  longest, s", float64(m.Interval.Max)},
		{"tokens.generated", "tokens made", float64(m.Tokens.Generated)},
		{"tokens.revived", "tokens revived", float64(m.Tokens.Revived)},
		{"tokens.removed", "tokens removed", float64(m.Tokens.Removed)},
		{"tokens.lost", "tokens lost", float64(m.Tokens.Lost)},
		{"held_again_s.count", "held again after a loss of all tokens", float64(m.HeldAgain.Count)},
		{"held_again_s.p50", "  median, s", float64(m.HeldAgain.P50)},
		{"held_again_s.max", "  longest, s", float64(m.HeldAgain.Max)},
		{"handoffs", "handoffs", float64(m.Hops)},
		{"datagrams", "datagrams", float64(m.Messages)},
		{"datagrams_per_operation", "datagrams per operation", float64(m.MessagesPerOperation)},
	}, err
}

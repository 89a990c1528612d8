package simulate

import (
	"context"

	"github.com/wanderd/wanderd/cmd/wanderd/scenario"
	"github.com/wanderd/wanderd/policy"
	ringing "github.com/wanderd/wanderd/sim/fleet/ring"
)

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

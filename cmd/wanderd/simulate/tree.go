package simulate

import (
	"context"

	"github.com/wanderd/wanderd/cmd/wanderd/scenario"
	"github.com/wanderd/wanderd/policy"
	treeing "github.com/wanderd/wanderd/sim/fleet/tree"
)

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

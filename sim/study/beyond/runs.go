package beyond

import (
	"context"

	"github.com/wanderd/wanderd/sim/study"
)

// runs are what the runs of some cells led to: for each cell in the order of their seeds.
type runs[T any] struct {
	byCell [][]T
	// done is how many there are, of so many wanted.
	done, wanted int
}

// runAll runs every cell with every seed from 1.
func runAll[T any](
	ctx context.Context, o study.Options, cells []cell, run func(ctx context.Context, c *cell, seed uint64) (T, error),
) (runs[T], error) {
	type job struct {
		cell int
		seed uint64
	}
	type outcome struct {
		cell  int
		value T
	}
	var jobs []job
	for i := range cells {
		for seed := range cells[i].seedsOf(o) {
			jobs = append(jobs, job{cell: i, seed: uint64(seed) + 1})
		}
	}
	outcomes, err := study.Across(ctx, o, len(jobs), func(ctx context.Context, i int) (outcome, error) {
		value, err := run(ctx, &cells[jobs[i].cell], jobs[i].seed)
		return outcome{jobs[i].cell, value}, err
	})
	all := runs[T]{byCell: make([][]T, len(cells)), done: len(outcomes), wanted: len(jobs)}
	for _, one := range outcomes {
		all.byCell[one.cell] = append(all.byCell[one.cell], one.value)
	}
	return all, err
}

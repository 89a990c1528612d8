package seeds

import (
	"context"
	"errors"
	"slices"
	"testing"
)

func TestAcrossKeepsTheOrderAndStopsAtAnError(t *testing.T) {
	double := func(_ context.Context, job int) (int, error) { return 2 * job, nil }
	got, err := Across(t.Context(), 4, nil, 5, double)
	if err != nil || !slices.Equal(got, []int{0, 2, 4, 6, 8}) {
		t.Errorf("%v, %v", got, err)
	}
	broken := errors.New("broken")
	got, err = Across(t.Context(), 1, nil, 5, func(_ context.Context, job int) (int, error) {
		if job == 2 {
			return 0, broken
		}
		return job, nil
	})
	if !errors.Is(err, broken) || !slices.Equal(got, []int{0, 1}) {
		t.Errorf("%v, %v", got, err)
	}
}

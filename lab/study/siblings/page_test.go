package siblings

import (
	"slices"
	"testing"
)

func TestThePageHasItsExperiments(t *testing.T) {
	want := []string{
		"ring-requests", "ring-wk", "ring-resilience", "ring-transpeer", "ring-beyond", "tree-behaviour",
		"tree-timeouts", "tree-predecessors",
	}
	var names []string
	for _, e := range Page().Experiments {
		names = append(names, e.Name)
	}
	if !slices.Equal(names, want) {
		t.Errorf("there are %v, want %v", names, want)
	}
}

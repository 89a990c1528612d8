// Package study runs experiments on the simulator and presents their results: one by one, or as a page with plots.
//
// The experiments themselves are in the packages below it: paper, beyond, siblings, compare. This package knows nothing
// of how tokens move.
package study

// Package study runs experiments on the simulator and presents their results: one by one, or as a page with plots.
//
//	experiment.go  an experiment and its result
//	find.go        experiments by name
//	seeds.go       cases, each run with many seeds
//	render.go      a result as text, Markdown or CSV; json.go: as JSON
//	page.go        all results of one subject, in a file of the docs
//	fleet.go       the constants of the paper's fleets
//
// The experiments themselves are in the packages below it: paper, beyond, siblings, compare. This one knows nothing of how tokens move.
package study

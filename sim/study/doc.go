// Package study runs what the simulator is asked, and presents the answers: one by one, or as a page with plots.
//
//	experiment.go  a question and its answer
//	find.go        by the name that a user gives
//	seeds.go       cases that are all run with many seeds
//	render.go      an answer as text, Markdown or CSV; json.go as JSON
//	page.go        all answers of one subject, in a file of the docs
//	fleet.go       the constants of the paper's fleets
//
// It never decides what is asked: package paper has the experiments of the paper, package beyond those that go further. It never
// looks into a run, and knows nothing of how tokens move.
package study

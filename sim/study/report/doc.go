// Package report presents figures: tables, JSON, charts as SVG, PNG and on a terminal, and how far a long piece of work has
// come.
//
//	table.go       rows and columns as text, Markdown or CSV
//	comparison.go  published and measured side by side
//	number.go      how a number is written
//	json.go        JSON for people and scripts
//	chart.go       what every chart has: title, legend, axes; bars.go and lines.go the two kinds of chart there are
//	terminal.go    charts drawn with letters
//	ticks.go       where the marks of an axis are
//	style.go       fonts, sizes and colours
//	output.go      a file that is there complete or not at all
//	progress.go    a line with the time left
//
// It takes plain data, and never knows of tokens, fleets or papers. The same data give the same bytes, PNG and SVG included.
package report

// Package report presents figures: tables, JSON, charts as SVG, PNG and on a terminal, and the progress of long work.
//
//	table.go       rows and columns as text, Markdown or CSV
//	comparison.go  published and measured side by side
//	number.go      how numbers are formatted
//	json.go        JSON for people and scripts
//	chart.go       what every chart has: title, legend; bars.go and lines.go: the two kinds of chart
//	axes.go        the axes of a chart
//	terminal.go    charts drawn with letters
//	ticks.go       the marks of an axis
//	style.go       sizes and colours; fonts.go: the fonts
//	output.go      a file that is written completely or not at all
//	progress.go    a line with the time left
//
// It takes plain data, and never knows of tokens, fleets or papers. The same data give the same bytes, PNG and SVG included.
package report

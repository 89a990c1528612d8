// Package report presents figures: tables, JSON, charts as SVG and on a terminal, and the progress of long work.
//
// It takes plain data, and knows nothing of tokens, fleets or papers. The same data give the same bytes, in SVG too.
package report

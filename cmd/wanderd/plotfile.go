package main

import (
	"fmt"

	"github.com/wanderd/wanderd/sim/study/report"
)

// plotFile is a file that a chart is to be drawn into; the zero value is none.
type plotFile struct {
	out    *report.Output
	format report.ImageFormat
}

// createPlot makes sure that a file can be written. The path may be empty.
func createPlot(path string) (plotFile, error) {
	if path == "" {
		return plotFile{}, nil
	}
	format, err := report.ImageFormatOf(path)
	if err != nil {
		return plotFile{}, err
	}
	out, err := report.Create(path)
	return plotFile{out, format}, err
}

func (f plotFile) commit(c report.Chart) error {
	if f.out == nil {
		return nil
	}
	if err := report.WriteImage(f.out, c, f.format); err != nil {
		return fmt.Errorf("the plot: %w", err)
	}
	return f.out.Commit()
}

// discard leaves nothing behind, unless the chart was drawn.
func (f plotFile) discard() {
	if f.out != nil {
		f.out.Discard()
	}
}

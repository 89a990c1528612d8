package metrics

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// kind is the type of a metric, in Prometheus' words.
type kind string

const (
	counter   kind = "counter"
	gauge     kind = "gauge"
	histogram kind = "histogram"
	summary   kind = "summary"
)

// contentType is the type of Prometheus' text format, in which each sample is a line, below two lines about its metric.
const contentType = "text/plain; version=0.0.4; charset=utf-8"

// page is all that a scrape gets.
type page struct{ families map[string]*family }

// family is the samples of one metric.
type family struct {
	name, help string
	kind       kind
	samples    []sample
}

type sample struct {
	// suffix is what a histogram adds to the name of its metric, such as "_bucket".
	suffix, labels string
	value          float64
}

type label struct{ name, value string }

func (p *page) family(name, help string, kind kind) *family {
	f := p.families[name]
	if f == nil {
		if p.families == nil {
			p.families = map[string]*family{}
		}
		f = &family{name: name, help: help, kind: kind}
		p.families[name] = f
	}
	return f
}

// sample adds a sample. Its labels are sorted by their names, except that "le" of a histogram and "quantile" of a
// summary come last.
func (f *family) sample(suffix string, value float64, labels ...label) {
	var b strings.Builder
	slices.SortStableFunc(labels, func(a, b label) int {
		return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(a.name, b.name))
	})
	for i, l := range labels {
		b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		fmt.Fprintf(&b, "%s=\"%s\"", l.name, escape(l.value))
	}
	if len(labels) > 0 {
		b.WriteString("}")
	}
	f.samples = append(f.samples, sample{suffix, b.String(), value})
}

func last(l label) int {
	if l.name == "le" || l.name == "quantile" {
		return 1
	}
	return 0
}

// escape writes the value of a label.
func escape(value string) string {
	return strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`).Replace(value)
}

// write writes the page, the same for the same samples.
func (p *page) write(w io.Writer) error {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.families)) {
		f := p.families[name]
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, f.help, f.kind)
		if f.kind == counter || f.kind == gauge { // the samples of the others have an order of their own
			slices.SortStableFunc(f.samples, func(a, b sample) int { return cmp.Compare(a.labels, b.labels) })
		}
		for _, s := range f.samples {
			fmt.Fprintf(&b, "%s%s%s %s\n", name, s.suffix, s.labels, number(s.value))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// number writes a value as Prometheus reads it.
func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

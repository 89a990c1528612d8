package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/guptarohit/asciigraph"
)

// Terminal draws one line for each bar.
func (b Bars) Terminal(columns int) string {
	labels, names, numbers := widest(b.Labels), 0, 1
	for _, g := range b.Groups {
		if len(b.Groups) > 1 {
			names = max(names, letterCount(g.Name)+1)
		}
		for _, v := range g.Values {
			numbers = max(numbers, letterCount(Number(v)))
		}
	}
	room := max(columns-(labels+1)-names-(1+numbers), 1)
	f := b.frame()
	low, high := f.span()
	lines := f.captions()
	if len(b.Labels) == 0 || len(b.Groups) == 0 {
		return cut(append(lines, nothing), columns)
	}
	for i, label := range b.Labels {
		for g, group := range b.Groups {
			line := fmt.Sprintf("%-*s", labels+1, label)
			if names > 0 {
				line += fmt.Sprintf("%-*s", names, group.Name)
			}
			bar := strings.Repeat(block(g), b.share(group.Values[i], low, high, room))
			lines = append(lines, line+strings.TrimSpace(bar+" "+Number(group.Values[i])))
			label = ""
		}
	}
	return cut(lines, columns)
}

// share returns the number of columns that the bar of a value fills: at least one, if there is a bar.
func (b Bars) share(v, low, high float64, columns int) int {
	if math.IsNaN(v) || v <= 0 {
		return 0
	}
	part := v / high
	if b.Logarithmic {
		part = math.Log(v/low) / math.Log(high/low)
	}
	return max(1, int(math.Round(part*float64(columns))))
}

// block is the character of a group's bars.
func block(group int) string { return []string{"█", "▒", "▓", "░"}[group%4] }

// rows is the approximate number of lines of a chart's curves.
const rows = 12

// Terminal draws all curves over each other; each column shows the mean of its points.
func (l Lines) Terminal(columns int) string {
	f := l.frame()
	lines := f.captions()
	if len(l.Curves) == 0 {
		return cut(append(lines, nothing), columns)
	}
	// How much of the width the numbers of the axis take is known when it has been drawn.
	room := max(columns-2, 2)
	drawn := l.graph(&f, room)
	if over := widest(drawn) - columns; over > 0 {
		drawn = l.graph(&f, max(room-over, 2))
	}
	lines = append(lines, drawn...)
	if len(l.Curves) > 1 {
		for i, k := range l.Curves {
			lines = append(lines, strings.Repeat(charSet(i).Horizontal, 3)+" "+k.Name)
		}
	}
	return cut(lines, columns)
}

// charSet has the characters of a curve.
func charSet(curve int) asciigraph.CharSet {
	return []asciigraph.CharSet{
		asciigraph.DefaultCharSet, asciigraph.CreateCharSet("·"), asciigraph.CreateCharSet("*"), asciigraph.CreateCharSet("+"),
		asciigraph.CreateCharSet("o"),
	}[curve%5]
}

// graph lays the values out in lines, a step a line. On a logarithmic axis values are exponents.
func (l Lines) graph(f *frame, columns int) []string {
	low, high := f.span()
	step := roundStep((high - low) / rows)
	if f.logarithmic {
		// span leaves half a decade below the least value, which needs no line here.
		low, high = math.Floor(math.Log10(low)+0.5), math.Ceil(math.Log10(high))
		step = 1 / max(1, math.Floor(rows/(high-low)))
	} else {
		low, high = step*math.Floor(low/step), step*math.Ceil(high/step)
	}
	var data [][]float64
	var sets []asciigraph.CharSet
	for i, k := range l.Curves {
		data = append(data, k.scaled(f.logarithmic).means(f.from, f.to, columns))
		sets = append(sets, charSet(i))
	}
	return strings.Split(asciigraph.PlotMany(data,
		asciigraph.Height(int(math.Round((high-low)/step))), asciigraph.LowerBound(low), asciigraph.UpperBound(high),
		asciigraph.YAxisValueFormatter(l.number), asciigraph.SeriesChars(sets...),
		asciigraph.XAxisRange(f.from, f.to), asciigraph.XAxisTickCount(max(2, min(5, columns/12))),
		asciigraph.XAxisValueFormatter(func(v float64) string { return grouped(roundTo(v, 3)) }),
	), "\n")
}

// number formats the value beside a line; on a logarithmic axis, beside powers of ten only.
func (l Lines) number(v float64) string {
	switch {
	case !l.Logarithmic:
		return grouped(roundTo(v, 3))
	case math.Abs(v-math.Round(v)) < 1e-6:
		return grouped(math.Pow(10, math.Round(v)))
	}
	return ""
}

// scaled returns the curve as it is drawn: on a logarithmic axis, of exponents.
func (k Curve) scaled(logarithmic bool) Curve {
	k.Y = slices.Clone(k.Y)
	for i, v := range k.Y {
		switch {
		case logarithmic && v > 0:
			k.Y[i] = math.Log10(v)
		case logarithmic:
			k.Y[i] = math.NaN()
		}
	}
	return k
}

// means returns a value for each column: the mean of its points; between two points, the value of the
// line or step there; outside of the curve, NaN.
func (k Curve) means(from, to float64, columns int) []float64 {
	means := make([]float64, columns)
	next := 0
	for j := range means {
		end := from + (to-from)*float64(j+1)/float64(columns)
		sum, n := 0.0, 0
		for ; next < len(k.X) && (k.X[next] < end || j == columns-1); next++ {
			sum += k.Y[next]
			n++
		}
		switch {
		case n > 0:
			means[j] = sum / float64(n)
		case next == 0 || next == len(k.X):
			means[j] = math.NaN()
		case k.Mark == Steps:
			means[j] = k.Y[next-1]
		default:
			middle := end - (to-from)/float64(2*columns)
			part := (middle - k.X[next-1]) / (k.X[next] - k.X[next-1])
			means[j] = k.Y[next-1] + part*(k.Y[next]-k.Y[next-1])
		}
	}
	return means
}

// nothing is drawn of a chart without data.
const nothing = "(nothing to draw)"

// captions are the lines above a chart on a terminal.
func (f *frame) captions() []string {
	axes, y := f.x, f.y
	if f.logarithmic {
		y += " (logarithmic)"
	}
	if y != "" {
		axes = strings.TrimSuffix(y+" by "+f.x, " by ")
	}
	return slices.DeleteFunc([]string{f.title, axes}, func(line string) bool { return line == "" })
}

func letterCount(s string) int { return utf8.RuneCountInString(s) }

func widest(texts []string) int {
	w := 0
	for _, s := range texts {
		w = max(w, letterCount(s))
	}
	return w
}

// cut joins lines, and cuts each to a number of columns.
func cut(lines []string, columns int) string {
	var b strings.Builder
	for _, l := range lines {
		if columns <= 0 {
			l = ""
		} else if letterCount(l) > columns {
			l = string([]rune(l)[:columns-1]) + "…"
		}
		b.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	return b.String()
}

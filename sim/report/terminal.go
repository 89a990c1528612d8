package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/guptarohit/asciigraph"
)

// Terminal draws the chart with letters, in lines of at most the given number of columns; it ends with a newline.
func (c Chart) Terminal(columns int) string {
	lines := c.captions()
	switch {
	case len(c.Curves) == 0 || c.Bars && len(c.Labels) == 0:
		lines = append(lines, "(nothing to draw)")
	case c.Bars:
		lines = append(lines, c.bars(columns)...)
	default:
		lines = append(lines, c.curves(columns)...)
	}
	return cut(lines, columns)
}

// bars draws one line for each bar.
func (c *Chart) bars(columns int) (lines []string) {
	labels, names, numbers := widest(c.Labels), 0, 1
	for _, k := range c.Curves {
		if len(c.Curves) > 1 {
			names = max(names, letterCount(k.Name)+1)
		}
		for _, v := range k.Y {
			numbers = max(numbers, letterCount(Number(v)))
		}
	}
	room := max(columns-(labels+1)-names-(1+numbers), 1)
	low, high := c.span()
	for i, label := range c.Labels {
		for g, k := range c.Curves {
			line := fmt.Sprintf("%-*s", labels+1, label)
			if names > 0 {
				line += fmt.Sprintf("%-*s", names, k.Name)
			}
			bar := strings.Repeat(block(g), c.share(k.Y[i], low, high, room))
			lines = append(lines, line+strings.TrimSpace(bar+" "+Number(k.Y[i])))
			label = ""
		}
	}
	return lines
}

// share returns the number of columns that the bar of a value fills: at least one, if there is a bar.
func (c *Chart) share(v, low, high float64, columns int) int {
	if math.IsNaN(v) || v <= 0 {
		return 0
	}
	part := v / high
	if c.Logarithmic {
		part = math.Log(v/low) / math.Log(high/low)
	}
	return max(1, int(math.Round(part*float64(columns))))
}

func block(group int) string { return []string{"█", "▒", "▓", "░"}[group%4] }

// rows is the approximate number of lines of a chart's curves.
const rows = 12

// curves draws all curves over each other; each column shows the mean of its points.
func (c *Chart) curves(columns int) []string {
	// The width of the axis's numbers is known only after it has been drawn.
	room := max(columns-2, 2)
	lines := c.graph(room)
	if over := widest(lines) - columns; over > 0 {
		lines = c.graph(max(room-over, 2))
	}
	if len(c.Curves) > 1 {
		for i, k := range c.Curves {
			lines = append(lines, strings.Repeat(charSet(i).Horizontal, 3)+" "+k.Name)
		}
	}
	return lines
}

func charSet(curve int) asciigraph.CharSet {
	return []asciigraph.CharSet{
		asciigraph.DefaultCharSet, asciigraph.CreateCharSet("·"), asciigraph.CreateCharSet("*"),
		asciigraph.CreateCharSet("+"),
		asciigraph.CreateCharSet("o"),
	}[curve%5]
}

// graph lays out the values in lines, one step a line. On a logarithmic axis, values are exponents.
func (c *Chart) graph(columns int) []string {
	from, to := c.ends()
	low, high := c.span()
	step := roundStep((high - low) / rows)
	if c.Logarithmic {
		// The half decade that span leaves below the least value needs no line here.
		low, high = math.Floor(math.Log10(low)+0.5), math.Ceil(math.Log10(high))
		step = 1 / max(1, math.Floor(rows/(high-low)))
	} else {
		low, high = step*math.Floor(low/step), step*math.Ceil(high/step)
	}
	var data [][]float64
	var sets []asciigraph.CharSet
	for i, k := range c.Curves {
		data = append(data, k.scaled(c.Logarithmic).means(from, to, columns))
		sets = append(sets, charSet(i))
	}
	return strings.Split(asciigraph.PlotMany(data,
		asciigraph.Height(int(math.Round((high-low)/step))), asciigraph.LowerBound(low), asciigraph.UpperBound(high),
		asciigraph.YAxisValueFormatter(c.number), asciigraph.SeriesChars(sets...),
		asciigraph.XAxisRange(from, to), asciigraph.XAxisTickCount(max(2, min(5, columns/12))),
		asciigraph.XAxisValueFormatter(func(v float64) string { return grouped(roundTo(v, 3)) }),
	), "\n")
}

// number formats the value beside a line. On a logarithmic axis, it does so beside powers of ten only.
func (c *Chart) number(v float64) string {
	switch {
	case !c.Logarithmic:
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

// captions returns the lines above a chart on a terminal.
func (c *Chart) captions() []string {
	axes, y := c.X, c.Y
	if c.Logarithmic {
		y += " (logarithmic)"
	}
	if y != "" {
		axes = strings.TrimSuffix(y+" by "+c.X, " by ")
	}
	return slices.DeleteFunc([]string{c.Title, axes}, func(line string) bool { return line == "" })
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

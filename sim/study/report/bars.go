package report

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars is a chart of one bar, or one of each group side by side, for each label: a histogram, or a comparison of two.
type Bars struct {
	Title string
	// X and Y say what the labels and the values are, with their units.
	X, Y   string
	Labels []string
	Groups []Group
	// Logarithmic makes the vertical axis logarithmic; values of zero and below are not drawn.
	Logarithmic bool
}

// Group is the bars of one colour.
type Group struct {
	Name string
	// Published sets the group apart from measured ones.
	Published bool
	// Values has one for each label; NaN if it is missing.
	Values []float64
	// Halves, if there are any, are half the widths of the values' confidence intervals.
	Halves []float64
}

func (b Bars) frame() frame {
	f := frame{
		title: b.Title, x: b.X, y: b.Y, logarithmic: b.Logarithmic,
		from: -0.5, to: max(float64(len(b.Labels))-0.5, 0.5), marks: b.ticks(),
	}
	for _, g := range b.Groups {
		f.series = append(f.series, series{g.Name, g.Published, g.Values})
	}
	return f
}

func (Bars) sample(c draw.Canvas, _ int, of color.Color) {
	c.SetColor(of)
	c.Fill(c.Rectangle.Path())
}

// ticks has as many of the labels as there is room for.
func (b Bars) ticks() marks {
	longest := 1
	for _, l := range b.Labels {
		longest = max(longest, len([]rune(l)))
	}
	const letterWidth, room = 7, 560
	every := max(1, int(math.Ceil(float64(len(b.Labels)*(longest+1)*letterWidth)/room)))
	var ticks []tick
	for i := 0; i < len(b.Labels); i += every {
		ticks = append(ticks, tick{float64(i), b.Labels[i]})
	}
	return func(float64, float64) []tick { return ticks }
}

func (b Bars) paint(c draw.Canvas, a *axes) {
	const together = 0.8
	x, y := a.on(&c)
	each := together / float64(len(b.Groups))
	floor := max(a.low, 0)
	f := b.frame()
	colours := f.colours()
	for g, group := range b.Groups {
		c.SetColor(colours[g])
		for i, v := range group.Values {
			if math.IsNaN(v) || b.Logarithmic && v <= 0 {
				continue
			}
			left := float64(i) - together/2 + float64(g)*each
			c.Fill(vg.Rectangle{
				Min: vg.Point{X: x(left) + 0.5, Y: y(min(v, floor))}, Max: vg.Point{X: x(left+each) - 0.5, Y: y(max(v, floor))},
			}.Path())
		}
		b.paintHalves(c, a, group, func(i int) vg.Length { return x(float64(i) - together/2 + (float64(g)+0.5)*each) })
	}
}

func (b Bars) paintHalves(c draw.Canvas, a *axes, group Group, x func(int) vg.Length) {
	_, y := a.on(&c)
	style := draw.LineStyle{Color: ink(), Width: 1}
	for i, h := range group.Halves {
		low, high := group.Values[i]-h, group.Values[i]+h
		if !(h > 0) || math.IsNaN(high) || b.Logarithmic && group.Values[i] <= 0 {
			continue
		}
		from, to := y(max(low, a.low)), y(min(high, a.high))
		c.StrokeLine2(style, x(i), from, x(i), to)
		c.StrokeLine2(style, x(i)-3, to, x(i)+3, to)
		c.StrokeLine2(style, x(i)-3, from, x(i)+3, from)
	}
}

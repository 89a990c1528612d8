package report

import (
	"math"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// axes are the two axes of a chart and the lines of its grid, which replace the line of the vertical axis.
type axes struct {
	*Chart
	// from and to are the ends of the horizontal axis, low and high those of the vertical one. below and beside are
	// their marks.
	from, to, low, high float64
	below, beside       []tick
}

const (
	// labelGap is the distance between the name of the horizontal axis and its marks. markLength is the length of the
	// marks. markGap is the distance between the numbers at the vertical axis and the grid.
	labelGap   vg.Length = 5
	markLength vg.Length = 4
	markGap    vg.Length = 3
	hairline   vg.Length = 0.75
)

func (c *Chart) axes() *axes {
	a := &axes{Chart: c}
	a.from, a.to = c.ends()
	a.low, a.high = c.span()
	if c.Bars || len(c.Labels) > 0 {
		a.below = c.labelTicks()
	} else {
		a.below = linearTicks(a.from, a.to)
	}
	if c.Logarithmic {
		a.beside = decadeTicks(a.low, a.high)
	} else {
		a.beside = linearTicks(a.low, a.high)
	}
	return a
}

// across and up return where a value lies between the ends of an axis, which are 0 and 1.
func (a *axes) across(x float64) float64 { return (x - a.from) / (a.to - a.from) }

func (a *axes) up(y float64) float64 {
	if a.Logarithmic {
		low := math.Log(a.low)
		return (math.Log(y) - low) / (math.Log(a.high) - low)
	}
	return (y - a.low) / (a.high - a.low)
}

// on returns functions from values to coordinates on a canvas between the axes.
func (a *axes) on(c *draw.Canvas) (x, y func(float64) vg.Length) {
	return func(v float64) vg.Length { return c.X(a.across(v)) }, func(v float64) vg.Length { return c.Y(a.up(v)) }
}

func (*axes) numbers(x text.XAlignment, y text.YAlignment) text.Style {
	style := letters(tickSize, xfont.WeightNormal)
	style.XAlign, style.YAlign = x, y
	return style
}

func (*axes) name() text.Style {
	style := letters(labelSize, xfont.WeightNormal)
	style.XAlign = text.XCenter
	return style
}

// paint draws the axes, and the chart between them.
func (a *axes) paint(c draw.Canvas) {
	under, left := a.numbers(text.XCenter, text.YTop), a.numbers(text.XRight, text.YCenter)
	width, _ := largest(left, a.beside)
	_, height := largest(under, a.below)
	margin, foot := width, height+hairline/2
	if len(a.beside) > 0 {
		margin += markGap
	}
	if len(a.below) > 0 {
		foot += markLength
	}
	if a.X != "" {
		foot += a.name().Height(a.X) + labelGap
	}
	a.paintBelow(a.narrow(draw.Crop(c, margin, 0, 0, 0), under), under, height)
	a.paintBeside(a.lower(draw.Crop(c, 0, 0, foot, 0), left), left, width)
	inner := a.lower(a.narrow(draw.Crop(c, margin, 0, foot, 0), under), left)
	a.paintGrid(inner)
	if a.Bars {
		a.paintBars(inner)
	} else {
		a.paintCurves(inner)
	}
}

// narrow leaves room on the right for half of the last number.
func (a *axes) narrow(c draw.Canvas, style text.Style) draw.Canvas {
	c.Max.X = c.Min.X + shortened(c.Max.X-c.Min.X, a.below, a.across, func(t tick) vg.Length {
		return style.Rectangle(t.label).Max.X
	})
	return c
}

// lower leaves room at the top for half of the highest number.
func (a *axes) lower(c draw.Canvas, style text.Style) draw.Canvas {
	e := style.FontExtents()
	c.Max.Y = c.Min.Y + shortened(c.Max.Y-c.Min.Y, a.beside, a.up, func(t tick) vg.Length {
		return style.Rectangle(t.label).Max.Y + e.Height - e.Ascent
	})
	return c
}

// shortened returns the length of an axis that has to end with its last number. half is how far a number extends beyond
// its mark.
func shortened(length vg.Length, marks []tick, at func(float64) float64, half func(tick) vg.Length) vg.Length {
	share, over, most := 1.0, vg.Length(0), length
	for _, t := range marks {
		if end := vg.Length(at(t.value))*length + half(t); end > most && at(t.value) <= 1 {
			share, over, most = at(t.value), half(t), end
		}
	}
	return (length - over) / vg.Length(share)
}

// paintBelow draws the horizontal axis at the foot of a canvas.
func (a *axes) paintBelow(c draw.Canvas, style text.Style, height vg.Length) {
	y, line := c.Min.Y, draw.LineStyle{Color: ink(), Width: hairline}
	if a.X != "" {
		name := a.name()
		c.FillText(name, vg.Point{X: c.Center().X, Y: y + name.FontExtents().Descent}, a.X)
		y += name.Height(a.X) + labelGap
	}
	for _, t := range a.below {
		if x := c.X(a.across(t.value)); c.ContainsX(x) {
			c.FillText(style, vg.Point{X: x, Y: y + height + style.FontExtents().Descent}, t.label)
		}
	}
	y += height
	for _, t := range a.below {
		if x := c.X(a.across(t.value)); c.ContainsX(x) {
			c.StrokeLine2(line, x, y, x, y+markLength)
		}
	}
	if len(a.below) > 0 {
		y += markLength
	} else {
		y += hairline / 2
	}
	c.StrokeLine2(line, c.Min.X, y, c.Max.X, y)
}

// paintBeside writes the numbers of the vertical axis at the left of a canvas.
func (a *axes) paintBeside(c draw.Canvas, style text.Style, width vg.Length) {
	for _, t := range a.beside {
		if y := c.Y(a.up(t.value)); c.ContainsY(y) {
			c.FillText(style, vg.Point{X: c.Min.X + width, Y: y + style.FontExtents().Descent}, t.label)
		}
	}
}

func (a *axes) paintGrid(c draw.Canvas) {
	for _, t := range a.beside {
		if y := c.Y(a.up(t.value)); y <= c.Max.Y && y >= c.Min.Y {
			c.StrokeLine2(draw.LineStyle{Color: faint(), Width: hairline}, c.Min.X, y, c.Max.X, y)
		}
	}
}

// largest returns the greatest width and the greatest height of the marks' numbers.
func largest(style text.Style, marks []tick) (w, h vg.Length) {
	for _, t := range marks {
		size := style.Rectangle(t.label).Size()
		w, h = max(w, size.X), max(h, size.Y)
	}
	return w, h
}

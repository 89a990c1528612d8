package report

import (
	"math"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// axes are the two axes of a chart and the lines of its grid, which stand in for the vertical one.
type axes struct {
	*frame
	// low and high are the ends of the vertical axis; below and beside are the marks.
	low, high     float64
	below, beside []tick
}

const (
	// labelGap is between the name of the horizontal axis and its marks, markLength how long these are, markGap between the numbers at the
	// vertical axis and the grid.
	labelGap   vg.Length = 5
	markLength vg.Length = 4
	markGap    vg.Length = 3
	hairline   vg.Length = 0.75
)

func (f *frame) axes() *axes {
	a := &axes{frame: f}
	a.low, a.high = f.span()
	vertical := linearTicks
	if f.logarithmic {
		vertical = decadeTicks
	}
	a.below, a.beside = f.marks(f.from, f.to), vertical(a.low, a.high)
	return a
}

// across and up are where values lie between the ends of an axis, which are 0 and 1.
func (a *axes) across(x float64) float64 { return (x - a.from) / (a.to - a.from) }

func (a *axes) up(y float64) float64 {
	if a.logarithmic {
		low := math.Log(a.low)
		return (math.Log(y) - low) / (math.Log(a.high) - low)
	}
	return (y - a.low) / (a.high - a.low)
}

// on returns functions to the coordinates of a canvas between the axes.
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
func (a *axes) paint(c draw.Canvas, chart Chart) {
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
	if a.x != "" {
		foot += a.name().Height(a.x) + labelGap
	}
	a.paintBelow(a.narrow(draw.Crop(c, margin, 0, 0, 0), under), under, height)
	a.paintBeside(a.lower(draw.Crop(c, 0, 0, foot, 0), left), left, width)
	inner := a.lower(a.narrow(draw.Crop(c, margin, 0, foot, 0), under), left)
	a.paintGrid(inner)
	chart.paint(inner, a)
}

// narrow leaves room on the right for half of the last number.
func (a *axes) narrow(c draw.Canvas, style text.Style) draw.Canvas {
	at, over, most := 1.0, vg.Length(0), c.Max.X
	for _, t := range a.below {
		r := style.Rectangle(t.label)
		if x := c.X(a.across(t.value)) + r.Max.X; x > most && a.across(t.value) <= 1 {
			at, over, most = a.across(t.value), r.Max.X, x
		}
	}
	c.Max.X = c.Min.X + (c.Max.X-over-c.Min.X)/vg.Length(at)
	return c
}

// lower leaves room at the top for half of the highest number.
func (a *axes) lower(c draw.Canvas, style text.Style) draw.Canvas {
	e := style.FontExtents()
	at, over, most := 1.0, vg.Length(0), c.Max.Y
	for _, t := range a.beside {
		r := style.Rectangle(t.label)
		top := r.Max.Y + e.Height - e.Ascent
		if y := c.Y(a.up(t.value)) + top; y > most && a.up(t.value) <= 1 {
			at, over, most = a.up(t.value), top, y
		}
	}
	c.Max.Y = c.Min.Y + (c.Max.Y-over-c.Min.Y)/vg.Length(at)
	return c
}

// paintBelow draws the horizontal axis at the foot of a canvas.
func (a *axes) paintBelow(c draw.Canvas, style text.Style, height vg.Length) {
	y, line := c.Min.Y, draw.LineStyle{Color: ink(), Width: hairline}
	if a.x != "" {
		name := a.name()
		c.FillText(name, vg.Point{X: c.Center().X, Y: y + name.FontExtents().Descent}, a.x)
		y += name.Height(a.x) + labelGap
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

// largest is the greatest width and the greatest height of the marks' numbers.
func largest(style text.Style, marks []tick) (w, h vg.Length) {
	for _, t := range marks {
		size := style.Rectangle(t.label).Size()
		w, h = max(w, size.X), max(h, size.Y)
	}
	return w, h
}

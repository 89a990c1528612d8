package report

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lines is a chart with curves.
type Lines struct {
	Title string
	// X and Y say what the axes are, with their units.
	X, Y   string
	Curves []Curve
	// Logarithmic makes the vertical axis logarithmic; values of zero and below are not drawn.
	Logarithmic bool
	// Labels, if there are any, stand below 0, 1, 2… in place of numbers.
	Labels []string
}

// Curve is the course of one value. X must not fall.
type Curve struct {
	Name string
	X, Y []float64
	Mark Mark
	// Published sets the curve apart from measured ones.
	Published bool
}

// Mark is how a curve is drawn.
type Mark uint8

const (
	// Line joins the points.
	Line Mark = iota
	// Steps keep the value of a point until the next.
	Steps
	// Dots mark the points and join nothing: for what was published, over what was measured.
	Dots
)

func (l Lines) frame() frame {
	f := frame{title: l.Title, x: l.X, y: l.Y, logarithmic: l.Logarithmic, from: math.Inf(1), to: math.Inf(-1), marks: linearTicks}
	if len(l.Labels) > 0 {
		f.marks = Bars{Labels: l.Labels}.ticks()
	}
	for _, k := range l.Curves {
		f.series = append(f.series, series{k.Name, k.Published, k.Y})
		if n := len(k.X); n > 0 {
			f.from, f.to = min(f.from, k.X[0]), max(f.to, k.X[n-1])
		}
	}
	switch {
	case f.from > f.to:
		f.from, f.to = 0, 1
	case f.from == f.to:
		f.from, f.to = f.from-0.5, f.to+0.5
	}
	return f
}

func (l Lines) sample(c draw.Canvas, curve int, of color.Color) {
	middle := c.Center()
	if l.Curves[curve].Mark == Dots {
		dot(c, of, middle)
		return
	}
	c.StrokeLine2(stroke(curve, of), c.Min.X, middle.Y, c.Max.X, middle.Y)
}

// stroke is how a curve is drawn.
func stroke(curve int, of color.Color) draw.LineStyle {
	return draw.LineStyle{Color: of, Width: 1.5, Dashes: dashes(curve)}
}

// dot marks a point, with a rim that sets it off from what is below.
func dot(c draw.Canvas, of color.Color, at vg.Point) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: color.White, Radius: 5, Shape: draw.CircleGlyph{}}, at)
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: of, Radius: 4, Shape: draw.CircleGlyph{}}, at)
}

func (l Lines) paint(c draw.Canvas, a *axes) {
	x, y := a.on(&c)
	f := l.frame()
	colours := f.colours()
	for i, k := range l.Curves {
		var run []vg.Point
		end := func() {
			if len(run) == 1 {
				dot(c, colours[i], run[0])
			}
			c.StrokeLines(stroke(i, colours[i]), run)
			run = run[:0]
		}
		for j, v := range k.Y {
			if math.IsNaN(v) || l.Logarithmic && v <= 0 {
				end()
				continue
			}
			at := vg.Point{X: x(k.X[j]), Y: y(v)}
			if n := len(run); k.Mark == Steps && n > 0 {
				run = append(run, vg.Point{X: at.X, Y: run[n-1].Y})
			}
			run = append(run, at)
			if k.Mark == Dots {
				end()
			}
		}
		end()
	}
}

package report

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

func stroke(curve int, of color.Color) draw.LineStyle {
	return draw.LineStyle{Color: of, Width: 1.5, Dashes: dashes(curve)}
}

// dot marks a point, with a rim that sets it off from what is below it.
func dot(c draw.Canvas, of color.Color, at vg.Point) {
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: color.White, Radius: 5, Shape: draw.CircleGlyph{}}, at)
	c.DrawGlyphNoClip(draw.GlyphStyle{Color: of, Radius: 4, Shape: draw.CircleGlyph{}}, at)
}

// paintCurves joins the points of each curve, except across missing ones.
func (a *axes) paintCurves(c draw.Canvas) {
	x, y := a.on(&c)
	colours := a.colours()
	for i, k := range a.Curves {
		var run []vg.Point
		end := func() {
			if len(run) == 1 {
				dot(c, colours[i], run[0])
			}
			c.StrokeLines(stroke(i, colours[i]), run)
			run = run[:0]
		}
		for j, v := range k.Y {
			if !a.drawn(v) {
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

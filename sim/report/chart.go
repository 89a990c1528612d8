package report

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is a plot of curves, or of bars.
type Chart struct {
	Title string
	// X and Y are the names of the axes, with their units.
	X, Y string
	// Labels, if there are any, are written below 0, 1, 2… in place of numbers.
	Labels []string
	// Bars makes a chart with a bar for each label, or with one bar of each curve side by side: a histogram, or a
	// comparison of two.
	Bars   bool
	Curves []Curve
	// Logarithmic makes the vertical axis logarithmic. Values of zero and below are not drawn.
	Logarithmic bool
}

// Curve is the course of one value, or the bars of one colour.
type Curve struct {
	Name string
	// X must not fall. It is empty for bars.
	X []float64
	// Y has a value for each X or label; NaN if it is missing. Halves, if there are any, are half the widths of the
	// confidence intervals of the values that bars show.
	Y, Halves []float64
	Mark      Mark
	// Published sets the curve apart from measured ones.
	Published bool
}

// Mark is how a curve is drawn.
type Mark uint8

const (
	// Line joins the points.
	Line Mark = iota
	// Steps keep the value of a point until the next one.
	Steps
	// Dots mark the points and do not join them: for published values, over measured ones.
	Dots
)

// drawn reports whether a value has a place on the vertical axis.
func (c *Chart) drawn(v float64) bool { return !math.IsNaN(v) && (!c.Logarithmic || v > 0) }

// CheckName returns an error if the name of a plot's file is not valid.
func CheckName(path string) error {
	if strings.ToLower(filepath.Ext(path)) != ".svg" {
		return fmt.Errorf("%s: a plot is an .svg file; end its name in .svg", path)
	}
	return nil
}

// WriteSVG draws a chart on a white background.
func WriteSVG(w io.Writer, c Chart) error {
	canvas := vgsvg.New(width, height)
	paint(draw.New(canvas), c)
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		return err
	}
	// Where Liberation Sans is not installed, these have letters of the same width.
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans;"),
		[]byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")))
	return err
}

// Draw draws a chart into the file and commits it. After an error, nothing remains of the file.
func (o *Output) Draw(c Chart) error {
	defer o.Discard()
	if err := WriteSVG(o, c); err != nil {
		return fmt.Errorf("%s cannot be drawn: %w", o.path, err)
	}
	return o.Commit()
}

// paint draws the heading, and the plot below it. The vertical axis has its name above it, where it reads
// horizontally.
func paint(c draw.Canvas, chart Chart) {
	c.SetColor(color.White)
	c.Fill(c.Rectangle.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	if chart.Title != "" {
		c = writeLine(c, chart.Title, letters(titleSize, xfont.WeightBold), 6)
	}
	if len(chart.Curves) > 1 {
		c = explain(c, &chart)
	}
	if chart.Y != "" {
		c = writeLine(c, chart.Y, letters(labelSize, xfont.WeightNormal), 8)
	}
	chart.axes().paint(c)
}

// writeLine writes a line at the top, and returns what is left of the canvas below it and a gap.
func writeLine(c draw.Canvas, line string, style text.Style, gap vg.Length) draw.Canvas {
	style.YAlign = draw.YTop
	c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y}, line)
	c.Max.Y -= style.FontExtents().Height + gap
	return c
}

// explain draws the legend, in as many lines as it needs, and returns what is left of the canvas below it.
func explain(c draw.Canvas, chart *Chart) draw.Canvas {
	const thumb, gap = 22, 18
	style := letters(tickSize, xfont.WeightNormal)
	line := style.FontExtents().Height + 3
	x, colours := c.Min.X, chart.colours()
	for i, k := range chart.Curves {
		needs := thumb + 5 + style.Width(k.Name)
		if x > c.Min.X && x+needs > c.Max.X {
			x = c.Min.X
			c.Max.Y -= line
		}
		icon := c
		icon.Rectangle = vg.Rectangle{
			Min: vg.Point{X: x, Y: c.Max.Y - line + 4}, Max: vg.Point{X: x + thumb, Y: c.Max.Y - 2},
		}
		switch middle := icon.Center(); {
		case chart.Bars:
			icon.SetColor(colours[i])
			icon.Fill(icon.Rectangle.Path())
		case k.Mark == Dots:
			dot(icon, colours[i], middle)
		default:
			icon.StrokeLine2(stroke(i, colours[i]), icon.Min.X, middle.Y, icon.Max.X, middle.Y)
		}
		c.FillText(style, vg.Point{X: x + thumb + 5, Y: icon.Min.Y + 1}, k.Name)
		x += needs + gap
	}
	c.Max.Y -= line + 8
	return c
}

package report

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"path/filepath"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Chart is [Bars] or [Lines].
type Chart interface {
	// Terminal draws the chart with letters, in lines of at most the given number of columns; it ends with a newline.
	Terminal(columns int) string
	frame() frame
	// paint draws what is within the axes.
	paint(draw.Canvas, *axes)
	// sample draws the mark of one series in the legend.
	sample(c draw.Canvas, series int, of color.Color)
}

// frame is common to all charts: a title, two axes and the drawing between them.
type frame struct {
	title, x, y string
	logarithmic bool
	series      []series
	// from and to are the ends of the horizontal axis.
	from, to float64
	marks    marks
}

// series is the values of one colour.
type series struct {
	name      string
	published bool
	values    []float64
}

// ImageFormat is the format of a chart's file.
type ImageFormat string

// The formats.
const (
	SVG ImageFormat = "svg"
	PNG ImageFormat = "png"
)

// ImageFormatOf returns the format that the end of a file's name asks for.
func ImageFormatOf(path string) (ImageFormat, error) {
	switch f := ImageFormat(strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))); f {
	case SVG, PNG:
		return f, nil
	}
	return "", fmt.Errorf("%s: a plot is an .svg or a .png file; end its name in one of the two", path)
}

// WriteImage draws a chart on white.
func WriteImage(w io.Writer, c Chart, f ImageFormat) error {
	switch f {
	case PNG:
		canvas := vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(dpi))}
		paint(draw.New(canvas), c)
		_, err := canvas.WriteTo(w)
		return err
	case SVG:
	}
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

// Draw draws a chart into the file and commits it. After an error nothing is left behind.
func (o *Output) Draw(c Chart, f ImageFormat) error {
	defer o.Discard()
	if err := WriteImage(o, c, f); err != nil {
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
	f := chart.frame()
	if f.title != "" {
		c = writeLine(c, f.title, letters(titleSize, xfont.WeightBold), 6)
	}
	if len(f.series) > 1 {
		c = explain(c, chart, &f)
	}
	if f.y != "" {
		c = writeLine(c, f.y, letters(labelSize, xfont.WeightNormal), 8)
	}
	f.axes().paint(c, chart)
}

// writeLine writes a line at the top and returns what is left below it, and below a gap.
func writeLine(c draw.Canvas, line string, style text.Style, gap vg.Length) draw.Canvas {
	style.YAlign = draw.YTop
	c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y}, line)
	c.Max.Y -= style.FontExtents().Height + gap
	return c
}

// explain draws the legend, in as many lines as it needs, and returns what is left below it.
func explain(c draw.Canvas, chart Chart, f *frame) draw.Canvas {
	const thumb, gap = 22, 18
	style := letters(tickSize, xfont.WeightNormal)
	line := style.FontExtents().Height + 3
	x, colours := c.Min.X, f.colours()
	for i, s := range f.series {
		needs := thumb + 5 + style.Width(s.name)
		if x > c.Min.X && x+needs > c.Max.X {
			x = c.Min.X
			c.Max.Y -= line
		}
		icon := c
		icon.Rectangle = vg.Rectangle{Min: vg.Point{X: x, Y: c.Max.Y - line + 4}, Max: vg.Point{X: x + thumb, Y: c.Max.Y - 2}}
		chart.sample(icon, i, colours[i])
		c.FillText(style, vg.Point{X: x + thumb + 5, Y: icon.Min.Y + 1}, s.name)
		x += needs + gap
	}
	c.Max.Y -= line + 8
	return c
}

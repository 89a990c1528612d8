package report

import (
	"image/color"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// The size of every chart.
const (
	width  vg.Length = 660
	height vg.Length = 400
	margin vg.Length = 12
)

// Font sizes.
const (
	titleSize = 15
	labelSize = 12
	tickSize  = 11
)

// colours returns a colour for each series; published series get theirs from a row of their own. The colours are Okabe
// and Ito's, which people with colour blindness can tell apart. Published and measured series differ in brightness too,
// for prints in grey.
func (c *Chart) colours() []color.Color {
	published := []color.RGBA{
		{R: 0xe6, G: 0x9f, B: 0x00, A: 0xff}, // orange
		{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff}, // vermilion
	}
	measured := []color.RGBA{
		{R: 0x00, G: 0x72, B: 0xb2, A: 0xff}, // blue
		{R: 0x00, G: 0x9e, B: 0x73, A: 0xff}, // green
		{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff}, // purple
		{R: 0x56, G: 0xb4, B: 0xe9, A: 0xff}, // sky blue
		{A: 0xff},                            // black
	}
	of := make([]color.Color, len(c.Curves))
	p, m := 0, 0
	for i := range c.Curves {
		if c.Curves[i].Published {
			of[i] = published[p%len(published)]
			p++
		} else {
			of[i] = measured[m%len(measured)]
			m++
		}
	}
	return of
}

func ink() color.Color  { return color.Gray{Y: 0x22} }
func faint() color.Gray { return color.Gray{Y: 0xdd} }

// dashes returns a pattern that tells curves apart without colour.
func dashes(i int) []vg.Length {
	return [][]vg.Length{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}}[i%4]
}

func letters(size font.Length, weight xfont.Weight) text.Style {
	return text.Style{
		Color: ink(), Handler: text.Plain{Fonts: fonts()},
		Font: font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight, Size: size},
	}
}

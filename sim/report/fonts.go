package report

import (
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
)

// fonts are the two fonts of charts. gonum's package plot would bring twelve, and read them at every start of the
// program.
var fonts = sync.OnceValue(func() *font.Cache { //nolint:gochecknoglobals // a constant that is read once
	var all font.Collection
	for weight, ttf := range map[xfont.Weight][]byte{
		xfont.WeightNormal: liberationsansregular.TTF, xfont.WeightBold: liberationsansbold.TTF,
	} {
		face, err := opentype.Parse(ttf)
		if err != nil {
			panic(err) // they are part of this program
		}
		all = append(all, font.Face{
			Font: font.Font{Typeface: "Liberation", Variant: "Sans", Weight: weight}, Face: face,
		})
	}
	return font.NewCache(all)
})

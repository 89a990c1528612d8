package report

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// labelTicks returns as many of the labels as there is room for.
func (c *Chart) labelTicks() (ticks []tick) {
	longest := max(1, widest(c.Labels))
	const letterWidth, room = 7, 560
	every := max(1, int(math.Ceil(float64(len(c.Labels)*(longest+1)*letterWidth)/room)))
	for i := 0; i < len(c.Labels); i += every {
		ticks = append(ticks, tick{float64(i), c.Labels[i]})
	}
	return ticks
}

func (a *axes) paintBars(c draw.Canvas) {
	const together = 0.8
	x, y := a.on(&c)
	each := together / float64(len(a.Curves))
	floor := max(a.low, 0)
	colours := a.colours()
	for g, k := range a.Curves {
		c.SetColor(colours[g])
		for i, v := range k.Y {
			if !a.drawn(v) {
				continue
			}
			left := float64(i) - together/2 + float64(g)*each
			c.Fill(vg.Rectangle{
				Min: vg.Point{X: x(left) + 0.5, Y: y(min(v, floor))},
				Max: vg.Point{X: x(left+each) - 0.5, Y: y(max(v, floor))},
			}.Path())
		}
		a.paintHalves(c, &k, func(i int) vg.Length { return x(float64(i) - together/2 + (float64(g)+0.5)*each) })
	}
}

func (a *axes) paintHalves(c draw.Canvas, k *Curve, x func(int) vg.Length) {
	_, y := a.on(&c)
	style := draw.LineStyle{Color: ink(), Width: 1}
	for i, h := range k.Halves {
		low, high := k.Y[i]-h, k.Y[i]+h
		if !(h > 0) || !a.drawn(k.Y[i]) {
			continue
		}
		from, to := y(max(low, a.low)), y(min(high, a.high))
		c.StrokeLine2(style, x(i), from, x(i), to)
		c.StrokeLine2(style, x(i)-3, to, x(i)+3, to)
		c.StrokeLine2(style, x(i)-3, from, x(i)+3, from)
	}
}

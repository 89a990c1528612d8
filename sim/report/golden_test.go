package report

import (
	"flag"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got); after a change on purpose: go test ./sim/report -update\n%.4000s", name, d)
	}
}

// table3 is Ciuffoletti's table 3, N=300, beside invented numbers.
func table3() Comparison {
	none := math.NaN()
	return Comparison{
		Title: "Wandering token, N = 300: for how long how many operations ran at once",
		What:  "operations at once", Figure: "time", Unit: "s",
		Rows: []Compared{
			{"1", 378512, 812345.25, 1234.5},
			{"2", 80719, 30123.5, 912.125},
			{"3", 8485, 1011, 55},
			{"4", 616, 22, 14},
			{"5", 30, 0.5, 0.6},
			{"6", none, 0, 0},
			{"7", 4, none, none},
		},
		Notes: []string{"The published numbers add up to 46.8 % of the time; nothing is known of the rest."},
	}
}

// histogram is the N=150 column of Ciuffoletti's table 4, with a long tail.
func histogram() Chart {
	c := Chart{
		Title: "Intervals between operations on one member", X: "interval, s (in bins of 500)", Y: "intervals",
		Bars:   true,
		Curves: []Curve{{Name: "measured", Y: []float64{123817, 35750, 6311, 585, 1}}},
	}
	for i := range 30 {
		c.Labels = append(c.Labels, Number(float64(500*(i+1))))
		if i >= 5 {
			c.Curves[0].Y = append(c.Curves[0].Y, 0)
		}
	}
	return c
}

// burst is something like Ciuffoletti's figure 1: operations per unit of time after a loss.
func burst() Chart {
	measured, smooth := Curve{Name: "in each unit", Mark: Steps}, Curve{Name: "expected"}
	published := Curve{Name: "published", Mark: Dots, Published: true}
	for i := range 400 {
		x := float64(50 * i)
		y := 1 + 8*math.Exp(-x/4000)*(0.5+0.5*math.Sin(x*x/7919))
		measured.X, measured.Y = append(measured.X, x), append(measured.Y, math.Round(y))
		if i%10 == 0 {
			smooth.X, smooth.Y = append(smooth.X, x), append(smooth.Y, 1+4*math.Exp(-x/4000))
		}
		if i%50 == 25 {
			published.X, published.Y = append(published.X, x), append(published.Y, 1.5+4*math.Exp(-x/4000))
		}
	}
	return Chart{
		Title: "Operations at once after the loss of the token, N = 300", X: "time since the loss, s",
		Y:      "operations at once",
		Curves: []Curve{measured, smooth, published},
	}
}

func charts() map[string]Chart {
	growth := Chart{
		Title: "Events for each second of work", X: "members", Y: "events/s", Logarithmic: true,
		Curves: []Curve{{Name: "one core", X: []float64{1, 2, 3, 4, 5, 6}, Y: []float64{5e6, 4e6, 3e6, 9e5, 0, 2e5}}},
	}
	return map[string]Chart{
		"comparison": table3().Chart(true), "histogram": histogram(), "burst": burst(), "growth": growth,
		"nothing-bars": {X: "x", Y: "y", Bars: true}, "nothing-lines": {X: "x", Y: "y"},
	}
}

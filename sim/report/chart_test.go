package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func image(t *testing.T, c Chart, f ImageFormat) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteImage(&b, c, f); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAChartIsTheSameSVGEveryTime(t *testing.T) {
	for name, c := range charts() {
		t.Run(name, func(t *testing.T) {
			svg := image(t, c, SVG)
			if again := image(t, c, SVG); !bytes.Equal(svg, again) {
				t.Error("drawn twice, it is not the same")
			}
			if len(svg) < 200_000 {
				golden(t, name+".svg", string(svg))
			} else {
				t.Errorf("%d bytes are too many to look at", len(svg))
			}
			for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("no XML: %v", err)
				}
			}
		})
	}
}

// With WANDERD_CHARTS naming a folder, the charts are put there to be looked at.
func TestAChartAsPNGIsLargeEnoughToRead(t *testing.T) {
	for name, c := range charts() {
		b := image(t, c, PNG)
		if folder := os.Getenv("WANDERD_CHARTS"); folder != "" {
			if err := os.WriteFile(filepath.Join(folder, name+".png"), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		picture, err := png.Decode(bytes.NewReader(b))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if size := picture.Bounds().Size(); size.X != 1320 || size.Y != 800 {
			t.Errorf("%s has %v dots", name, size)
		}
		if r, g, b, a := picture.At(1, 1).RGBA(); r&g&b&a != 0xffff {
			t.Errorf("%s is not on white", name)
		}
	}
}

func TestATerminalChartKeepsWithinItsColumns(t *testing.T) {
	for name, c := range charts() {
		for _, columns := range []int{1, 10, 40, 80, 200} {
			text := c.Terminal(columns)
			if !strings.HasSuffix(text, "\n") {
				t.Errorf("%s in %d columns does not end with a newline", name, columns)
			}
			for line := range strings.Lines(text) {
				if w := letterCount(strings.TrimSuffix(line, "\n")); w > columns {
					t.Errorf("%s in %d columns has a line of %d: %s", name, columns, w, line)
				}
			}
		}
		golden(t, name+".txt", c.Terminal(80))
	}
}

func TestAnAxisHasAFewRoundMarks(t *testing.T) {
	for _, high := range []float64{0.003, 1, 7, 10, 123, 9999, 661678, 1e6, 3.7e9} {
		ticks := linearTicks(0, high)
		if len(ticks) < 4 || len(ticks) > maxTicks+1 {
			t.Errorf("up to %v: %d marks: %v", high, len(ticks), ticks)
		}
	}
	for _, tc := range []struct {
		low, high float64
		want      string
	}{
		{0.3, 800_000, "1 10 100 1000 10 000 100 000"},
		{1, 10, "1 2 5 10"},
		{0.0018, 0.2, "0.002 0.005 0.01 0.02 0.05 0.1 0.2"},
		{1, 1e12, "1 100 10 000 1 000 000 100 000 000 10 000 000 000 1 000 000 000 000"},
	} {
		var labels []string
		for _, k := range decadeTicks(tc.low, tc.high) {
			labels = append(labels, k.label)
		}
		if got := strings.Join(labels, " "); got != tc.want {
			t.Errorf("from %v to %v: %s, want %s", tc.low, tc.high, got, tc.want)
		}
	}
}

func TestTheEndOfItsNameSaysWhatAPlotIs(t *testing.T) {
	for name, want := range map[string]ImageFormat{"a/b.svg": SVG, "x.PNG": PNG} {
		if got, err := ImageFormatOf(name); got != want || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "plot", "plot.pdf", "svg"} {
		if _, err := ImageFormatOf(name); err == nil || !strings.Contains(fmt.Sprint(err), ".svg or a .png") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func svgOf(t *testing.T, c Chart) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteSVG(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAChartIsTheSameSVGEveryTime(t *testing.T) {
	for name, c := range charts() {
		t.Run(name, func(t *testing.T) {
			svg := svgOf(t, c)
			if again := svgOf(t, c); !bytes.Equal(svg, again) {
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

func TestAPlotIsNamedForWhatItIs(t *testing.T) {
	for _, name := range []string{"a/b.svg", "x.SVG"} {
		if err := CheckName(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "plot", "plot.png", "svg"} {
		if err := CheckName(name); err == nil || !strings.Contains(err.Error(), "end its name in .svg") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

package report

import (
	"math"
	"strings"
	"testing"
)

func TestAComparisonAsATable(t *testing.T) {
	for f, name := range map[Format]string{
		Text: "comparison-table.txt", Markdown: "comparison-table.md", CSV: "comparison-table.csv",
	} {
		golden(t, name, table3().Table().Render(f))
	}
}

func TestATableWithoutTitleOrNotesIsOnlyATable(t *testing.T) {
	table := Table{Header: []string{"a|b", "n"}, Rows: [][]string{{"x, y", "1"}, {`"z"`, "22"}}}
	for f, want := range map[Format]string{
		Markdown: "| a\\|b | n |\n|:--- | ---:|\n| x, y | 1 |\n| \"z\" | 22 |\n",
		CSV:      "a|b,n\n\"x, y\",1\n\"\"\"z\"\"\",22\n",
	} {
		if got := table.Render(f); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", f, got, want)
		}
	}
}

func TestAFormatThatDoesNotExistIsAnsweredWithThoseThatDo(t *testing.T) {
	for _, f := range []Format{Text, Markdown, CSV} {
		if got, err := ParseFormat(string(f)); got != f || err != nil {
			t.Errorf("%s: %v, %v", f, got, err)
		}
	}
	if _, err := ParseFormat("html"); err == nil || !strings.Contains(err.Error(), "table, markdown or csv") {
		t.Errorf("html: %v", err)
	}
}

func TestNumbersAreWrittenAsTheyAreReadBest(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 661678: "661678", -3: "-3", 66.66666: "66.67", 12345.678: "12346", 0.5: "0.5", 0.000123456: "0.0001235",
		1.0 / 3: "0.3333", 600.04: "600", 2e-7: "2e-07", 1e18: "1e+18", 99.999: "100", -0.25: "-0.25",
	} {
		if got := Number(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	if got := Number(math.NaN()); got != Missing {
		t.Errorf("not a number: %s", got)
	}
	for share, want := range map[float64]string{0.66744: "66.7 %", 0: "0 %", 1: "100 %", 0.000998: "0.0998 %"} {
		if got := Percent(share); got != want {
			t.Errorf("%v: %s, want %s", share, got, want)
		}
	}
	for v, want := range map[float64]string{1: "+1", -1: "-1", 0: "0"} {
		if got := Signed(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{1000: "1000", 20000: "20 000", -1234567: "-1 234 567", 0.25: "0.25"} {
		if got := grouped(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
}

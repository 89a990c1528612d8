package siblings

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/wanderd/wanderd/lab/study"
)

func ringWkResult(t *testing.T) study.Result {
	t.Helper()
	r, err := ringWk().Run(t.Context(), study.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// "the threshold for a system composed of 10000 nodes is k = 8" with 10 %, and "k = 20" with 50 %: for targets of their
// own. For the default of "wanderd plan backups", 6 and 22.
func TestThePublishedThresholdsStandBesideThoseOfTheDefaultTarget(t *testing.T) {
	var got [][2]float64
	for _, row := range ringWkResult(t).Comparisons[0].Rows {
		got = append(got, [2]float64{row.Published, row.Measured})
	}
	if want := [][2]float64{{8, 8}, {8, 6}, {20, 20}, {20, 22}}; !slices.Equal(got, want) {
		t.Errorf("published and measured: %v, want %v", got, want)
	}
}

func TestSmallRingsAreCountedAlikeInThreeWays(t *testing.T) {
	check, table, _ := figureFour()
	numbers := 0
	for _, row := range check.Rows {
		if row[2] != "0" || row[3] != "0" {
			t.Errorf("N = %s: %s numbers are unlike the listing, %s unlike the recurrence", row[0], row[2], row[3])
		}
		numbers++
	}
	if numbers != listedRing || len(table.Rows) != listedRing+1 {
		t.Errorf("%d rings were counted, and the last has %d rows", numbers, len(table.Rows))
	}
}

func TestJSONHasEveryPointOfThePlots(t *testing.T) {
	text, err := json.Marshal(ringWkResult(t))
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Comparisons []struct {
			Title string
			Rows  []struct {
				Label               string
				Published, Measured *float64
			}
		}
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{
		"Figure 5(a): P_k, 10 % crash/N = 10000, k = 8":  0.9999912800,
		"Figure 5(b): P_k, 50 % crash/N = 10000, k = 20": 0.9976631633,
		"Lost eventually, 50 % crash/N = 10000, k = 22":  0.0005823014, "Lost at once, 50 % crash/N = 50, k = 0": 0.5,
	}
	rows := map[string]int{}
	for _, c := range document.Comparisons {
		rows[c.Title] = len(c.Rows)
		for _, row := range c.Rows {
			value, ok := want[c.Title+"/"+row.Label]
			if !ok {
				continue
			}
			if row.Published != nil || row.Measured == nil || math.Abs(*row.Measured-value) > 1e-9 {
				t.Errorf("%s, %s: %v, %v; want none, %v", c.Title, row.Label, row.Published, row.Measured, value)
			}
			delete(want, c.Title+"/"+row.Label)
		}
	}
	if len(want) > 0 {
		t.Errorf("there is nothing of %v", want)
	}
	for title, n := range map[string]int{"Figure 5(a): P_k, 10 % crash": 5 * 13, "Lost at once, 50 % crash": 5 * 31} {
		if rows[title] != n {
			t.Errorf("%s has %d rows, want %d", title, rows[title], n)
		}
	}
}

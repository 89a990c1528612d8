package measure

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func TestTheIntervalIsThatOfStudentsT(t *testing.T) {
	for _, tc := range []struct {
		samples    []Number
		mean, half float64
	}{
		// t is 12.706 for one degree of freedom, 4.303 for two, 2.262 for nine.
		{[]Number{1, 3}, 2, 12.706},
		{[]Number{1, 2, 3}, 2, 4.303 / math.Sqrt(3)},
		{[]Number{7, 7, 7}, 7, 0},
		{[]Number{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 5.5, 2.262 * 3.02765 / math.Sqrt(10)},
	} {
		e := EstimateOf(tc.samples...)
		if math.Abs(float64(e.Mean)-tc.mean) > 1e-12 || math.Abs(float64(e.Half)-tc.half) > 1e-3 {
			t.Errorf("%v: %v ± %v, want %v ± %v", tc.samples, e.Mean, e.Half, tc.mean, tc.half)
		}
	}
}

func TestMissingFiguresAreNotPartOfAMean(t *testing.T) {
	none := Number(math.NaN())
	for _, tc := range []struct {
		samples []Number
		want    string
	}{
		{nil, `{"mean":null,"low":null,"high":null}`},
		{[]Number{none}, `{"mean":null,"low":null,"high":null}`},
		{[]Number{none, 5}, `{"mean":5,"low":null,"high":null}`},
		{[]Number{4, none, 4}, `{"mean":4,"low":4,"high":4}`},
	} {
		got, err := json.Marshal(EstimateOf(tc.samples...))
		if err != nil || string(got) != tc.want {
			t.Errorf("%v: %s, %v; want %s", tc.samples, got, err, tc.want)
		}
	}
}

func TestTheOrderInWhichSeedsFinishChangesNothing(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	runs := make([]Figures, 7)
	for i := range runs {
		runs[i] = filled(dice)
	}
	want := inJSON(t, Across(runs))
	for range 20 {
		dice.Shuffle(len(runs), func(i, j int) { runs[i], runs[j] = runs[j], runs[i] })
		if got := inJSON(t, Across(runs)); got != want {
			t.Fatalf("another order, another summary:\n%s\n%s", got, want)
		}
	}
}

func TestEveryFigureIsSummarised(t *testing.T) {
	runs := []Figures{filled(rand.New(rand.NewPCG(1, 2))), filled(rand.New(rand.NewPCG(3, 4)))}
	var check func(path string, figure, summary reflect.Value)
	check = func(path string, figure, summary reflect.Value) {
		if e, ok := reflect.TypeAssert[Estimate](summary); ok {
			if e.Samples != len(runs) || e.Half <= 0 {
				t.Errorf("%s is not summarised: %+v", path, e)
			}
			return
		}
		if summary.Kind() == reflect.Slice {
			if summary.Len() == 0 {
				t.Errorf("%s is empty", path)
			}
			for i := range summary.Len() {
				check(path+"[]", figure.Index(0), summary.Index(i))
			}
			return
		}
		for i := range summary.NumField() {
			if name := summary.Type().Field(i).Name; name != "Key" {
				check(path+"."+name, figure.Field(i), summary.Field(i))
			}
		}
	}
	check("Summary", reflect.ValueOf(runs[0]), reflect.ValueOf(Across(runs)))
}

func TestARunWithoutALineOfATableHasZeroThere(t *testing.T) {
	runs := make([]Figures, 2)
	runs[0].Concurrency = Table[Number]{{0, 90}, {1, 10}}
	runs[1].Concurrency = Table[Number]{{0, 80}, {1, 16}, {2, 4}}
	got := Across(runs).Concurrency
	var keys []float64
	for _, e := range got {
		keys = append(keys, e.Key)
	}
	if !slices.Equal(keys, []float64{0, 1, 2}) || got.At(0).Mean != 85 || got.At(1).Mean != 13 || got.At(2).Mean != 2 {
		t.Errorf("summary %+v", got)
	}
}

// filled returns figures of which none is zero.
func filled(dice *rand.Rand) Figures {
	var f Figures
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		if v.CanFloat() {
			v.SetFloat(1 + dice.Float64())
			return
		}
		if v.Kind() == reflect.Slice {
			v.Set(reflect.MakeSlice(v.Type(), 3, 3))
			for i := range v.Len() {
				fill(v.Index(i))
				v.Index(i).FieldByName("Key").SetFloat(float64(i))
			}
			return
		}
		for _, field := range v.Fields() {
			fill(field)
		}
	}
	fill(reflect.ValueOf(&f).Elem())
	return f
}

func inJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

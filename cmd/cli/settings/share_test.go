package settings

import "testing"

func TestSharesAreWrittenInTwoWays(t *testing.T) {
	for text, want := range map[string]float64{
		"1%": 0.01, "0.01": 0.01, "100%": 1, "0": 0, "7 %": 0.07, "1e-3": 0.001,
	} {
		got, err := ParseShare(text)
		if err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
		if again, err := ParseShare(Part(got).String()); err != nil || again != got {
			t.Errorf("%s is written %s", text, Part(got).String())
		}
	}
}

package downcount

import "testing"

func TestALimitIsANumberOrAShareThatNeverRoundsToZero(t *testing.T) {
	for text, want := range map[string]map[int]int{
		"0": {10: 0}, "1": {0: 1, 200: 1}, "3": {2: 3}, "100%": {7: 7},
		"10%": {0: 1, 9: 1, 10: 1, 19: 1, 20: 2, 200: 20},
	} {
		l, err := Parse(text)
		if err != nil || l.String() != text {
			t.Errorf("%s: %v, %v", text, l, err)
		}
		for members, most := range want {
			if got := l.Of(members); got != most {
				t.Errorf("%s of %d: %d, want %d", text, members, got, most)
			}
		}
	}
	for _, text := range []string{"", "x", "-1", "0%", "101%", "10001", "1.5", "%", "99999999999999999999", "1 %"} {
		if l, err := Parse(text); err == nil {
			t.Errorf("%q is %v", text, l)
		}
	}
}

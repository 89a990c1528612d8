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

// "A run starts only if fewer members than that are down for any reason": failed, away with a kept grant, or maybe
// running under another token.
func TestWhoeverIsDownForAnyReasonCounts(t *testing.T) {
	for _, c := range []struct {
		limit Limit
		down  Down
		bars  bool
	}{
		{Limit{}, Down{Members: 10, Failed: 9}, false},
		{Limit{Count: 1}, Down{Members: 10}, false},
		{Limit{Count: 1}, Down{Members: 10, Failed: 1}, true},
		{Limit{Count: 1}, Down{Members: 10, Kept: true}, true},
		{Limit{Count: 1}, Down{Members: 10, Kept: true, Here: true}, false}, // It runs, and has the token.
		{Limit{Count: 2}, Down{Members: 10, Failed: 1}, false},
		{Limit{Count: 2}, Down{Members: 10, Failed: 1, Kept: true}, true},
		{Limit{Count: 3}, Down{Members: 10, Slots: 3}, false},
		{Limit{Count: 3}, Down{Members: 10, Slots: 3, Failed: 1}, true},
		{Limit{Percent: 20}, Down{Members: 10, Failed: 1, Slots: 1}, false},
		{Limit{Percent: 20}, Down{Members: 10, Failed: 2, Slots: 1}, true},
	} {
		if got := c.limit.Bars(&c.down); got != c.bars {
			t.Errorf("%v, %+v: bars is %v", c.limit, c.down, got)
		}
	}
}

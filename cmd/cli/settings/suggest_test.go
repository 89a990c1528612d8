package settings

import "testing"

func TestDistanceCountsEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"a", "", 1},
		{"", "abc", 3},
		{"skip", "skip", 0},
		{"skip", "skpi", 1},
		{"kitten", "sitting", 3},
		{"min_intervall", "min_interval", 1},
		{"min-interval", "min_interval", 1},
		{"ab", "ba", 1},
		{"abcd", "badc", 2},
	} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
		if got := distance(c.b, c.a); got != c.want {
			t.Errorf("from %q to %q: %d, want %d", c.b, c.a, got, c.want)
		}
	}
}

func TestNearestGuessesOnlyWhatIsNear(t *testing.T) {
	words := []string{"status", "members", "keygen", "config", "version", "op", "skip", "min_interval", "max_interval"}
	for word, want := range map[string]string{
		"stauts": "status", "member": "members", "confg": "config", "min_intervall": "min_interval",
		"mininterval": "min_interval",
		"maxinterval": "max_interval", "po": "op", "opp": "op", "skp": "skip", "xy": "", "banana": "", "./sync.sh": "",
		"": "",
	} {
		if got := Nearest(word, words); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

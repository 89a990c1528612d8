package control

import (
	"encoding/json"
	"testing"
	"time"
)

func TestDurationsAreWrittenAsGoWritesThem(t *testing.T) {
	for text, want := range map[string]time.Duration{
		`"1m30s"`: 90 * time.Second, `"0s"`: 0, `"1.5s"`: 1500 * time.Millisecond, `"24h0m0s"`: 24 * time.Hour,
	} {
		var d Duration
		if err := json.Unmarshal([]byte(text), &d); err != nil || time.Duration(d) != want {
			t.Errorf("%s is read as %v, %v; want %v", text, d, err, want)
		}
		if b, err := json.Marshal(Duration(want)); err != nil || string(b) != text {
			t.Errorf("%v is written as %s, %v; want %s", want, b, err, text)
		}
	}
	for _, text := range []string{`"5"`, `"soon"`, `5`} {
		var d Duration
		if err := json.Unmarshal([]byte(text), &d); err == nil {
			t.Errorf("%s is read as %v; want an error", text, d)
		}
	}
}

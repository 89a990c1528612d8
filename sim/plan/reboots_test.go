package plan

import (
	"strings"
	"testing"
	"time"
)

// The others wait for a host that reboots, and for keep if it stays away.
func TestAPlanOfReboots(t *testing.T) {
	w := Request{
		Members: 200, Op: 30 * time.Second, Every: 7 * 24 * time.Hour, Walk: 2, Backups: 2, Seed: 1,
		RebootTakes: 4 * time.Minute, RebootFails: 0.01,
	}
	a, err := planWithin(t.Context(), w, effort{fleet: 20_000, lossExperiment: 20_000, twice: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := a.Text(&text); err != nil {
		t.Fatal(err)
	}
	// 200 × (30 s + 4 min + 1 % of 12 min)
	if want := 200 * (30 + 240 + 7.2); a.FirstRound != want {
		t.Errorf("a round takes %v s, want %v s", a.FirstRound, want)
	}
	for _, want := range []string{
		"keep = \"12m\"", "--keep 12m", "each to run 30s every", "4m more", "1 % of the hosts",
	} {
		if !strings.Contains(strings.ReplaceAll(text.String(), "\n", " "), want) {
			t.Errorf("it does not have %q:\n%s", want, &text)
		}
	}
}

func TestAPlanOfRebootsIsChecked(t *testing.T) {
	for want, change := range map[string]func(w *Request){
		"a reboot takes up to":       func(w *Request) { w.RebootTakes = 9 * time.Hour },
		"must be between 0 and 50 %": func(w *Request) { w.RebootFails = 0.6 },
		"needs reboot_takes":         func(w *Request) { w.RebootTakes = 0 },
		"needs one token":            func(w *Request) { w.Slots = 2 },
		"backups 1 or more":          func(w *Request) { w.Backups = 0 },
		"due again before":           func(w *Request) { w.Every = 4 * time.Minute },
	} {
		w := Request{
			Members: 20, Op: 30 * time.Second, Every: 24 * time.Hour, Walk: 2, Backups: 2,
			RebootTakes: 4 * time.Minute, RebootFails: 0.01,
		}
		if change(&w); w.check() == nil || !strings.Contains(w.check().Error(), want) {
			t.Errorf("%v, want %q", w.check(), want)
		}
	}
}

package study

import (
	"strings"
	"testing"
)

func library() []Page {
	return []Page{
		{Name: "paper", Experiments: []Experiment{
			{Name: "random-access"}, {Name: "wander-stable"}, {Name: "wander-loss"},
		}},
		{Name: "beyond", Experiments: []Experiment{{Name: "beyond-calm"}, {Name: "beyond-loss"}}},
	}
}

func TestANameStandsForAnExperimentOrForAllOfAPage(t *testing.T) {
	for name, want := range map[string]int{"wander-stable": 1, "beyond-loss": 1, "paper": 3, "beyond": 2} {
		p, err := Find(library(), name)
		if err != nil || len(p.Experiments) != want || want == 1 && p.Experiments[0].Name != name ||
			want > 1 && p.Name != name {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

func TestAnUnknownNameGetsTheNearestAndTheList(t *testing.T) {
	for name, nearest := range map[string]string{
		"wander-stabel": "wander-stable", "stable": "wander-stable", "random": "random-access",
		"wander_loss": "wander-loss",
		"calm":        "beyond-calm", "papers": "paper",
	} {
		_, err := Find(library(), name)
		if err == nil || !strings.HasPrefix(err.Error(), "no such experiment") {
			t.Fatalf("%q: %v", name, err)
		}
		if !strings.Contains(err.Error(), "did you mean \""+nearest+"\"") {
			t.Errorf("%q: %v; want %s", name, err, nearest)
		}
		for _, known := range Names(library()) {
			if !strings.Contains(err.Error(), known) {
				t.Errorf("%q: %v; %s is missing", name, err, known)
			}
		}
	}
	if _, err := Find(library(), ""); err == nil || !strings.HasPrefix(err.Error(), "no such experiment") {
		t.Errorf("no name at all: %v", err)
	}
}

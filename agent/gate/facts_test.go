package gate

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wanderd/wanderd/agent/control"
	"github.com/wanderd/wanderd/policy"
	"github.com/wanderd/wanderd/wire"
)

// Programs read the document by its keys: each fact keeps its place there, however the code changes.
func TestEachFactHasItsPlaceInTheDocument(t *testing.T) {
	want := map[string]string{
		"walk": "walk", "skip": "skip", "min_interval": "min_interval", "backups": "backups", "on_lost": "on_lost",
		"slots_share":    "slots_share",
		"ask_before_run": "ask_before_run",
		"op":             "op op_source", "max_interval": "max_interval max_interval_rule",
		"regenerate_after": "regenerate_after",
		"regenerate_at":    "regenerate_at",
		"lap":              "lap", "too_short": "too_short", "window": "windows", "window_opens": "window_opens",
		"window_closes": "window_closes window_open", "kept": "kept",
		// These facts are in other parts of the document.
		"next_run": "", "interval_ends": "", "window_opened": "", "guards": "", "guardian": "", "heard": "", "home": "",
		"waiters": "", "waiter": "", "calls": "", "queued": "",
	}
	b := newBench(t, nil)
	empty := document(t, &control.Gate{})
	for _, key := range policy.Keys() {
		fact := policy.Fact{
			Key: key, Slot: 1, At: 5, For: time.Minute, Count: 3, Member: wire.MemberID{7}, Text: "true",
		}
		var s control.Gate
		b.gate.addFact(&s, &fact)
		var changed []string
		for name, value := range document(t, &s) {
			if string(value) != string(empty[name]) {
				changed = append(changed, name)
			}
		}
		slices.Sort(changed)
		places, own := want[key.String()]
		if !own {
			places = "facts"
			if s.Facts[0].Name != key.String() {
				t.Errorf("%s is called %s", key, s.Facts[0].Name)
			}
		}
		delete(want, key.String())
		if got := strings.Join(changed, " "); got != places {
			t.Errorf("%s is in %q, and not in %q", key, got, places)
		}
	}
	if len(want) > 0 {
		t.Errorf("no key is called %v", slices.Sorted(maps.Keys(want)))
	}
}

func document(t *testing.T, s *control.Gate) (fields map[string]json.RawMessage) {
	t.Helper()
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

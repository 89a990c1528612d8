package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// planted is a family of which each seed takes no time, and every tenth breaks a rule. After a hundred the hunt ends.
type planted struct{ end context.CancelFunc }

func (p *planted) title() string { return "planted, core" }

func (p *planted) hunt(_ context.Context, from uint64, _ time.Duration) (o outcome) {
	if from > 100 {
		p.end()
		return o
	}
	o.seeds = 10 - from%10
	o.drawn = map[string]uint64{"often": o.seeds, "rarely": 1}
	seed := from + o.seeds - 1
	o.never = []string{"note of a thing"}
	o.broken = []broken{{
		seed: seed, rule: "a rule", show: fmt.Sprint("show ", seed),
		smaller: scenario(func() string { return "smaller" }),
	}}
	return o
}

// dead is a family that cannot be hunted.
type dead struct{}

func (dead) title() string { return "dead" }

func (dead) hunt(context.Context, uint64, time.Duration) outcome {
	return outcome{err: errors.New("no program")}
}

func TestAHuntGoesOnAfterABrokenRuleAndWritesItDownAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "to", "hunts.md")
	ctx, end := context.WithCancel(t.Context())
	err := all(ctx, []family{dead{}, &planted{end}}, plan{lasts: time.Minute, first: 1, path: path})
	if !errors.Is(err, errBroken) {
		t.Errorf("the hunt ends with %v", err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| planted, core | 109 | 110 |", "- planted, core, seed 9: a rule\n", "show 109\n",
		"wanderd sim trace --scenario planted-core-19.toml\n", "- dead: not hunted: no program",
		"- planted, core: note of a thing\n", "- rarely: 10.1 % (11)\n- often: 100.0 % (109)\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Fatalf("the page lacks %q:\n%s", want, text)
		}
	}
	smaller, err := os.ReadFile(filepath.Join(filepath.Dir(path), "planted-core-109.toml"))
	if string(smaller) != "smaller" {
		t.Errorf("%q, %v", smaller, err)
	}
}

func TestAHuntOfAStrictGateIsRead(t *testing.T) {
	o := read([]byte(`=== RUN   TestHunt
=== RUN   TestHunt/core_of_q
    hunt_test.go:264: seed 77012: waits for 3 h
    hunt_test.go:282: seed 77012: waits for 3 h
        {members:3}
    hunt_test.go:223: seeds from 77000 on: 50, of which 12 with three members and 5 with five; 865 starts, 0 failures
    hunt_test.go:223: drawn: unequal links 38 %, all stop at once, and start 20 %
`))
	if o.seeds != 50 || len(o.broken) != 1 || o.broken[0].seed != 77012 || o.broken[0].rule != "waits for 3 h" ||
		len(o.drawn) != 2 || o.drawn["unequal links"] != 19 || o.drawn["all stop at once, and start"] != 10 {
		t.Errorf("%+v", o)
	}
}

func TestAllThatSeedsDrawIsHunted(t *testing.T) {
	var titles []string
	for _, f := range softFamilies() {
		titles = append(titles, f.title())
		o := f.hunt(t.Context(), 1, time.Nanosecond)
		if o.err != nil || len(o.broken) > 0 || o.seeds > 0 && len(o.drawn) == 0 {
			t.Errorf("%s: %+v", f.title(), o)
		}
	}
	all := strings.Join(titles, "; ")
	for _, want := range []string{
		"wander; wander, guided; call; call, guided; ring; tree", "wander, core; wander, core, guided",
		"call, core; call, core, guided",
		"wander, Byzantine", "call, Byzantine",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%s is not among %s", want, all)
		}
	}
}

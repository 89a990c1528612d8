package wander_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wanderd/wanderd/lab/mutant"
	wandering "github.com/wanderd/wanderd/sim/fleet/wander"
)

var update = flag.Bool("update", false, "rewrite docs/mutants.md and the runs in README.md and docs/protocol.md")

// mutantsPage is the page that the test keeps true.
const mutantsPage = "../../../docs/mutants.md"

const mutantsIntro = `# Mutants

A checker that never objects proves nothing. So the protocol is broken on purpose, in one place at a time, and the bug
finder must notice it. Each seed, from 1 on, draws a fleet and its faults. The last column is the first seed whose run
breaks a rule.

` + "`make mutants`" + ` writes this page from ` + "`sim/fleet/wander/testdata/mutants`" + `, and looks for the seeds.
The tests run each mutant with its seed, and the correct protocol with the same seed.

| area | the mutant | who notices | after seeds |
|---|---|---|---:|
`

const piecesIntro = `
## What few fleets have

Most fleets of a hunt have few kinds of faults, so that each shows alone. What few of them have is drawn by dice of its
own. The table counts the fleets of the first %d seeds that have it; ` + "`wanderd sim hunt --seeds %d`" + ` prints
the same.

| fleets | with |
|---:|---|
`

// piecesOnPage returns the text about how often each piece is drawn.
func piecesOnPage() string {
	const seeds = 50
	var v wandering.Coverage
	for seed := range uint64(seeds) {
		v.Drew(seed + 1)
	}
	var b strings.Builder
	fmt.Fprintf(&b, piecesIntro, seeds, seeds)
	for _, c := range v.Pieces() {
		fmt.Fprintf(&b, "| %d | %s |\n", c.Times, c.What)
	}
	return b.String()
}

// Each file in testdata/mutants breaks one rule of the protocol, and the checkers must notice it.
func TestMutantsAreCaught(t *testing.T) {
	set := mutant.Load(t, "../../..", "testdata/mutants")
	set.EachIsCaught(t)
	compareMutants(t, set.Mutants)
}

// areas returns the parts of the protocol. Each must have a mutant.
func areas() []string {
	return []string{
		"handoff", "removal", "regeneration", "guardians", "slots", "demand", "retry", "windows", "shape", "directives",
		"ready", "state", "wire",
	}
}

func compareMutants(t *testing.T, mutants []*mutant.Mutant) {
	t.Helper()
	var b strings.Builder
	b.WriteString(mutantsIntro)
	written := 0
	for _, area := range areas() {
		before := written
		for _, m := range mutants {
			if m.Head["area"] == area {
				fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", area, m.Wrong, m.Head["noticed by"], m.Head["seed"])
				written++
			}
		}
		if written == before {
			t.Errorf("there is no mutant of %s", area)
		}
	}
	if written != len(mutants) {
		t.Errorf("%d of %d mutants are of none of the areas", len(mutants)-written, len(mutants))
	}
	b.WriteString(piecesOnPage())
	foreign, err := os.ReadFile("../../../lab/mutant/testdata/foreign.md")
	if err != nil {
		t.Fatal(err)
	}
	b.Write(foreign)
	if *update || mutant.Hunting() {
		if err := os.WriteFile(mutantsPage, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(mutantsPage)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(page), b.String()); d != "" {
		t.Errorf("docs/mutants.md is not what the mutants say (-page +mutants); rewrite it with make mutants\n%s", d)
	}
}

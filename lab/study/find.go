package study

import (
	"fmt"
	"math"
	"strings"
)

// Find returns the page with that name or, for the name of an experiment, a page without a name that has only this
// experiment. The error lists all names and suggests the nearest.
func Find(pages []Page, name string) (Page, error) {
	for _, p := range pages {
		if p.Name == name {
			return p, nil
		}
		for _, e := range p.Experiments {
			if e.Name == name {
				return Page{Experiments: []Experiment{e}}, nil
			}
		}
	}
	names := Names(pages)
	nearest, least := "", math.MaxInt
	for _, known := range names {
		if d := distance(name, known); d < least {
			nearest, least = known, d
		}
	}
	return Page{}, fmt.Errorf("no such experiment %q: did you mean %q? There are %s", name, nearest,
		strings.Join(names, ", "))
}

// Names returns the names of all experiments, page by page, and then the names of the pages.
func Names(pages []Page) []string {
	var names, wholes []string
	for _, p := range pages {
		for _, e := range p.Experiments {
			names = append(names, e.Name)
		}
		wholes = append(wholes, p.Name)
	}
	return append(names, wholes...)
}

// distance counts the letters to insert into a, or to delete from it, to make b. It forgives a name that lacks a part,
// such as "stable" for "wander-stable".
func distance(a, b string) int {
	above, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for i := range a {
		above, row = row, above
		for j := range b {
			row[j+1] = max(above[j+1], row[j])
			if a[i] == b[j] {
				row[j+1] = above[j] + 1
			}
		}
	}
	return len(a) + len(b) - 2*row[len(b)]
}

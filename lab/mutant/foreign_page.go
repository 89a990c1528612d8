package mutant

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// equivalent is a foreign mutant that changes nothing that a rule could be about, and why.
type equivalent struct{ File, Func, Operator, Changed, Why string }

// equivalents reads the list of those that somebody has looked at.
func equivalents(t testing.TB, path string) map[equivalent]string {
	t.Helper()
	var list struct{ Equivalent []equivalent }
	if _, err := toml.DecodeFile(path, &list); err != nil {
		t.Fatal(err)
	}
	all := map[equivalent]string{}
	for _, e := range list.Equivalent {
		why := e.Why
		if e.Why = ""; why == "" || all[e] != "" {
			t.Errorf("%s: %+v has no reason, or is listed twice", path, e)
		}
		all[e] = why
	}
	return all
}

// equivalent returns the mutant as it is listed if nothing notices it because there is nothing to notice.
func (m *Foreign) equivalent() equivalent {
	return equivalent{File: m.File, Func: m.Func, Operator: m.Operator, Changed: m.changed()}
}

// counts is how many mutants of a kind there were, and who noticed them.
type counts struct{ all, hunts, units, either, equivalent int }

func (c *counts) add(v verdict, equivalent bool) {
	c.all++
	if v.Hunt != "" {
		c.hunts++
	}
	if v.Unit != "" {
		c.units++
	}
	switch {
	case v.Hunt+v.Unit != "":
		c.either++
	case equivalent:
		c.equivalent++
	}
}

func (c *counts) row(name string) string {
	share := func(n int) string {
		return fmt.Sprintf("%d (%.0f %%)", n, 100*float64(n)/float64(max(c.all-c.equivalent, 1)))
	}
	return fmt.Sprintf("| %s | %d | %d | %s | %s | %s | %d |\n", name, c.all, c.equivalent, share(c.hunts),
		share(c.units), share(c.either), c.all-c.equivalent-c.either)
}

// foreignTables returns the results as tables: by package and by operator.
func foreignTables(all []*Foreign, of map[string]verdict, known map[equivalent]string) string {
	byPackage, byOperator, total := map[string]*counts{}, map[string]*counts{}, &counts{}
	count := func(in map[string]*counts, name string) *counts {
		if in[name] == nil {
			in[name] = &counts{}
		}
		return in[name]
	}
	for _, m := range all {
		v, judged := of[m.key()]
		if !judged {
			continue
		}
		_, same := known[m.equivalent()]
		for _, c := range []*counts{count(byPackage, path.Dir(m.File)), count(byOperator, m.Operator), total} {
			c.add(v, same)
		}
	}
	var b strings.Builder
	for _, table := range []struct {
		head string
		rows map[string]*counts
	}{{"package", byPackage}, {"changed by", byOperator}} {
		fmt.Fprintf(&b, "| %s | mutants | equivalent | noticed by hunts | by unit tests | by either | by none |\n",
			table.head)
		b.WriteString("|---|---:|---:|---:|---:|---:|---:|\n")
		for _, name := range slices.Sorted(maps.Keys(table.rows)) {
			b.WriteString(table.rows[name].row(name))
		}
		b.WriteString(total.row("**all**") + "\n")
	}
	return b.String()
}

// survivors returns those that nobody notices and that are not known to be equivalent, sorted by place.
func survivors(all []*Foreign, of map[string]verdict, known map[equivalent]string) string {
	var left []*Foreign
	for _, m := range all {
		_, same := known[m.equivalent()]
		if v, judged := of[m.key()]; judged && v.Hunt+v.Unit == "" && !same {
			left = append(left, m)
		}
	}
	slices.SortFunc(left, func(a, b *Foreign) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	var b strings.Builder
	for _, m := range left {
		fmt.Fprintf(&b, "%s %s: %s: %s\n", m.At(), m.Func, m.Operator, m.changed())
	}
	return b.String()
}

// written writes a page, unless its path is empty.
func written(t testing.TB, path, text string) {
	t.Helper()
	if path == "" {
		return
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
